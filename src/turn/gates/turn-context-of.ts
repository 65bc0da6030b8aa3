import type { Gate } from '../../store/gate.ts'
import type { RunnerStore } from '../../store/store.ts'

/** Turns are nested less deep than this. */
const MAX_DEPTH = 8

/** The context of the turn that a gate belongs to. A turn that continues another has its context, and so has one inside a call. */
export async function turnContextOf(
  store: RunnerStore,
  { conversation, turnId }: Pick<Gate, 'conversation' | 'turnId'>,
): Promise<unknown> {
  let place = { conversation, turnId }
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const first = await store.get(place.conversation, 'turn-start', place.turnId)
    if (first?.data.parent === undefined) {
      const { continues } = first?.data ?? {}
      if (continues === undefined) return first?.data.context
      return (await store.get(place.conversation, 'turn-start', continues))?.data.context
    }
    place = first.data.parent
  }
  return undefined
}
