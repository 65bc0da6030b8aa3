import { mayRepeat } from '../../tools/tool-options.ts'
import type { EntryOf } from '../entry.ts'
import type { Gate } from '../gate.ts'
import { isGivenUp, originalPlace } from '../rows/gate-row.ts'

/** Reads the entry of a call. */
type ReadCall = <K extends 'intent' | 'settlement'>(
  kind: K,
  id: string,
) => Promise<EntryOf<K> | undefined>

/**
 * Whether a gate that was given up still takes the result of its call: somebody may have executed it, and until they say so
 * it is in doubt. A call that may repeat was abandoned instead, and nobody waits for it.
 */
export async function mayBeLate(gate: Gate, read: ReadCall): Promise<boolean> {
  const { kind, state, toolCallId } = gate
  if (kind !== 'result' || !isGivenUp(state) || toolCallId === undefined) return false
  if (originalPlace(gate) !== undefined) return false
  const settled = await read('settlement', toolCallId)
  if (settled !== undefined) return settled.data['settlement'] === 'in-doubt'
  const started = await read('intent', toolCallId)
  return started !== undefined && !mayRepeat(started.data.effect)
}
