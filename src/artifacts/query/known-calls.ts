import { brief } from '../../core/error/cut-text.ts'
import type { Artifact } from '../../spool/artifact.ts'

/** The artifacts of each call that can be asked about, by its id. */
export type Calls = ReadonlyMap<string, readonly Artifact[]>

/** What to tell the model about an id that names no call. */
export function unknownCall(calls: Calls, callId: string): string | undefined {
  if (calls.has(callId)) return undefined
  const ids = [...calls.keys()]
  const wayOut =
    ids.length === 0
      ? 'There is no result to read yet'
      : `Use one of these as \`callId\`: ${listed(ids)}`
  return `this tool has no result of a call \`${shorten(callId)}\`. ${wayOut}`
}

/** Names for the model, the newest 20. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(-20).map(shorten).join(', ')
  return names.length > 20 ? `${shown} (the newest 20 of ${names.length})` : shown
}

const shorten = (id: string) => brief(id, 101)
