import { cutText } from '../../core/error/cut-text.ts'
import { ANSWER_CHARS } from './answer-limits.ts'
import type { QueryAnswer } from './query.ts'

/** Room for line numbers and markers beside the text that the queries bound themselves. */
const HARD_LIMIT = ANSWER_CHARS + 4_000

/** An answer as the model reads it: the text, then what was left out and how to continue. */
export function renderAnswer(answer: QueryAnswer | string): string {
  const { text, leftOut, cursor } = typeof answer === 'string' ? asAnswer(answer) : answer
  // JSON may spell half a surrogate pair, which no provider takes.
  const shown = cutText(text, HARD_LIMIT).toWellFormed()
  const notes: string[] = []
  if (shown.length < text.length) notes.push(`${text.length - shown.length} characters cut off`)
  if (leftOut !== undefined) notes.push(`left out: ${leftOut}`)
  if (cursor !== undefined) notes.push(`to continue, call again with cursor "${cursor}"`)
  return notes.length === 0 ? shown : `${shown}\n[${notes.join('; ')}]`
}

const asAnswer = (text: string): QueryAnswer => ({ text })
