import type { QueryAnswer } from '../../artifacts/query/query.ts'

/** What the model calls a query, and how the command line asks it. */
const WORDS: Readonly<Record<string, string>> = {
  json_keys: '--keys',
  json_slice: '--start and --limit',
  artifact_head: '`bobbin artifact head`',
  artifact_cat: '`bobbin artifact cat`',
  artifact_grep: '`bobbin artifact grep`',
}

/** A message about artifacts in the words of the command line. */
export const inCommandWords = (message: string) =>
  message.replaceAll(/\b(?:artifact|json)_[a-z_]+\b/g, (name) => WORDS[name] ?? name)

/** Stands in the place of a value that is too large; everything else in a text is data. */
const ADVICE = /^\(this \w+ is too large to show at once: [^\n]*\)$/

/** An answer as a person reads it: notes on what was left out stand below the text. */
export function answerText(answer: QueryAnswer | string): string {
  const { text, leftOut, cursor } = typeof answer === 'string' ? { text: answer } : answer
  const notes = [
    ...(leftOut === undefined ? [] : [`left out: ${inCommandWords(leftOut)}`]),
    ...(cursor === undefined ? [] : [`--cursor '${cursor}' continues`]),
  ]
  const shown = ADVICE.test(text) ? inCommandWords(text) : text.toWellFormed()
  return notes.length === 0 ? shown : `${shown}\n[${notes.join('; ')}]`
}
