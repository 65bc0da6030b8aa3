import { SpooledArtifact, Tokenizable, type ToolCall } from 'bobbin-adk'

const MAX_BYTES = 256_000

/** What a call gave, as text: an artifact tool's answer, an error, or a small result. */
export async function textOf(call: ToolCall | undefined): Promise<string> {
  const results: unknown = call?.results
  if (Tokenizable.isTokenizable(results)) return results.text
  return SpooledArtifact.isSpooledArtifact(results) ? results.asString(MAX_BYTES) : ''
}

/** One row of an answer of `artifact_grep`, `artifact_json_filter` or `artifact_table_filter`. */
export interface AnswerRow {
  readonly position: number
  readonly text: string
}

/** The numbered rows of an artifact tool's answer; headers and notes are left out. */
export function rowsOf(answer: string): readonly AnswerRow[] {
  return answer.split('\n').flatMap((line) => {
    const [, position, text] = /^(\d+): (.*)$/s.exec(line) ?? []
    return position === undefined ? [] : [{ position: Number(position), text: text ?? '' }]
  })
}

/** Whether an answer says that there is more than it shows. */
export const isCut = (answer: string) => /\n\[.*left out: /.test(answer)

/** The most frequent first. */
export function tally(values: Iterable<string>): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}
