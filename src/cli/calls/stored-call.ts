import type { FoundCall } from '../command/find-record.ts'
import { showBytes } from '../terminal/amounts.ts'

/** A reference to stored bytes, as a record holds it. */
export interface StoredArtifact {
  readonly byteLength: number
  readonly kind: string
  readonly lineCount?: number
  readonly sha256: string
}

/** A stored `ToolCall`, as far as the command line reads it. */
export interface StoredCall {
  readonly id: string
  readonly tool: string
  readonly args: unknown
  readonly checksum: string
  readonly digest?: string
  readonly settlement: string
  readonly inline: boolean
  readonly results: unknown
  readonly createdAt: string
  readonly completedAt: string
}

export const storedCall = ({ entry }: FoundCall) => entry.data as unknown as StoredCall

/** The results of a call, one by one. */
export const resultsOf = ({ results }: StoredCall): readonly unknown[] =>
  Array.isArray(results) ? results : [results]

/** The reference that a result is, if it is one. */
export const artifactOf = (result: unknown) =>
  (result as { readonly $artifact?: StoredArtifact } | null | undefined)?.$artifact

/** The text that a result holds itself: an error, or the answer of an artifact tool. */
export function textOf(result: unknown): string | undefined {
  const text =
    typeof result === 'string' ? result : (result as { text?: unknown } | undefined)?.text
  return typeof text === 'string' ? text : undefined
}

/** How much a call gave, from the references on its record. */
export function sizeText(call: StoredCall): string {
  const bytes = resultsOf(call).reduce<number>(
    (sum, result) => sum + (artifactOf(result)?.byteLength ?? 0),
    0,
  )
  if (bytes === 0) return ''
  return call.inline ? showBytes(bytes) : `${showBytes(bytes)} kept out`
}

/** When a call was asked, in UTC, to the second: `2026-03-14 12:00:07Z`. */
export const timeText = (iso: string) => `${iso.replace('T', ' ').slice(0, 19)}Z`
