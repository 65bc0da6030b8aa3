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
 * Whether a gate that expired or was abandoned still takes the result of its call: the call may have run, and it is in
 * doubt until its result arrives. A call that may repeat was abandoned instead, and takes no result.
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
