import { type Entry, HAND_OVER_NOTE, type NewEntry } from './entry.ts'

/** The agent that is active from an entry on, if it says so. */
export function agentFrom(entry: NewEntry | Entry): string | undefined {
  if (entry.kind === 'note') {
    const { code, data } = entry.data
    const { agent } = (data ?? {}) as { readonly agent?: unknown }
    return code === HAND_OVER_NOTE && typeof agent === 'string' ? agent : undefined
  }
  const isTold = entry.kind === 'turn-start' || entry.kind === 'rewind' || entry.kind === 'summary'
  const agent: unknown = isTold ? entry.data.agent : undefined
  return typeof agent === 'string' ? agent : undefined
}
