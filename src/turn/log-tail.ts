import type { HistoryItem } from '../records/history-item.ts'
import { spokenText } from '../records/spoken-text.ts'
import type { Entry, NewEntry } from '../store/entry.ts'
import type { Decision } from './executor.ts'
import type { TurnStatus } from './outcome.ts'

/** How a log ends: what the turn that comes next must know of the one before it. */
export interface LogTail {
  /** How the last turn ended; absent for a new conversation and after a crash. */
  readonly lastEnd: TurnStatus | undefined
  /** True when the last turn did not come to its end: its process died. */
  readonly isOpen: boolean
  /** How the last turn ended that did end. */
  readonly previousEnd: TurnStatus | undefined
  /** True when nothing was said since then: turns began, and their processes died at once. */
  readonly isUntouched: boolean
  /** True when the last response is marked as no whole answer. */
  readonly isCut: boolean
}

export const EMPTY_TAIL: LogTail = {
  lastEnd: undefined,
  isOpen: false,
  previousEnd: undefined,
  isUntouched: true,
  isCut: false,
}

/** The tail of a log that is longer by one entry. */
export function nextTail(tail: LogTail, entry: Entry): LogTail {
  switch (entry.kind) {
    case 'turn-start':
      return { ...tail, lastEnd: undefined, isOpen: true }
    case 'turn-end': {
      const { status } = entry.data
      // A turn in which nothing was said and nothing came to an end leaves everything as it was.
      if (tail.isUntouched && status !== 'completed') {
        return { ...tail, lastEnd: undefined, isOpen: false }
      }
      return { ...EMPTY_TAIL, lastEnd: status, previousEnd: status }
    }
    case 'message':
    case 'thought':
    case 'history-item':
      return { ...tail, isUntouched: false, isCut: false }
    case 'note':
      return entry.data.code === NO_ANSWER ? { ...tail, isCut: true } : tail
    default:
      return tail
  }
}

const NO_ANSWER = 'NO_ANSWER'

/**
 * Says in the log that a response without calls is no whole answer: it paused, or was cut. Whoever reads
 * the log after a crash could not tell otherwise.
 */
export function noAnswerMark(turnId: string, decision: Decision): NewEntry | undefined {
  const { finish = 'stop' } = decision
  const isAnswer = 'answer' in decision && (finish === 'stop' || finish === 'tools')
  if (isAnswer || ('calls' in decision && decision.calls.length > 0)) return undefined
  const message = `The response ended without calls and without a whole answer (${finish}).`
  const data = { level: 'info' as const, code: NO_ANSWER, message }
  return { kind: 'note', turnId, data }
}

/** Whether the turn before came to its answer, so that nothing is left to do for it. */
export function isAnswered(tail: LogTail, items: readonly HistoryItem[]): boolean {
  const isAsItWas = tail.isUntouched && tail.previousEnd === 'completed'
  return tail.lastEnd === 'completed' || isAsItWas || endsInAnswer(tail, items)
}

/** Whether the process before died before its turn had said anything. */
export function diedEarly({ lastEnd, previousEnd = 'completed', isUntouched }: LogTail): boolean {
  return lastEnd === undefined && isUntouched && previousEnd === 'completed'
}

/** What the last response said. */
export function lastAnswer(items: readonly HistoryItem[]): string {
  const response = items.at(-1)?.response
  let text = ''
  for (const item of items) {
    if (item.type !== 'message' || item.role !== 'assistant' || item.response !== response) continue
    text += spokenText(item.parts)
  }
  return text
}

/** Whether a log ends in a whole answer whose turn was not closed: its process died between the two. */
function endsInAnswer(
  { lastEnd, isUntouched, isCut }: LogTail,
  items: readonly HistoryItem[],
): boolean {
  const last = items.at(-1)
  if (lastEnd !== undefined || isUntouched || isCut || last?.response === undefined) return false
  const response = items.filter((item) => item.response === last.response)
  const isPlain = response.every(({ type }) => type !== 'call' && type !== 'openCall')
  return isPlain && response.some((item) => item.type === 'message' && item.role === 'assistant')
}
