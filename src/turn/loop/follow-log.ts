import type { Reading } from '../../prompt/rendered-part.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { Store } from '../../store/store.ts'
import type { TurnEmitter } from '../events/event-bus.ts'
import type { Interruption } from '../limits/cut-off.ts'
import type { Fact } from '../log/fact.ts'

/** Emits `gateOpened`. Reads the gates only if there are observers. */
export async function tellGates(
  store: Store,
  events: TurnEmitter,
  facts: readonly Fact[],
): Promise<void> {
  if (!events.buses.observed.has('gateOpened')) return
  try {
    for (const fact of facts) {
      if (fact.kind !== 'gate-opened') continue
      const gate = await store.gate(events.origin.conversation, fact.gate.id)
      if (gate !== undefined) events.observed('gateOpened', gate)
    }
  } catch (error) {
    events.error(error, 'gateOpened')
  }
}

/** Tells observers that a result is a handle although its tool shows results inline. */
export function warnTooLarge(events: TurnEmitter, { id, tool }: ToolCall): void {
  const message = `The result of \`${tool}\` has more than 10 MB of text, which no provider takes: the model gets its beginning and a handle. Use \`inline: false\` for such a tool.`
  events.observedOnce(id, 'warning', { code: 'RESULT_TOO_LARGE', message, toolCallId: id })
}

/** Reading results for requests: errors go to observers, and an abort ends the wait. */
export const readingOf = ({ signal, watch }: Interruption, events: TurnEmitter): Reading => ({
  onFault: (error) => events.error(error, 'read'),
  untilOver: (work, otherwise) =>
    watch.orAborted(work).catch((error: unknown) => {
      if (signal.aborted) return otherwise()
      throw error
    }),
})
