import type { Reading } from '../../prompt/rendered-part.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { TurnEmitter } from '../events/turn-emitter.ts'
import type { Interruption } from '../limits/cut-off.ts'

/** Tells observers that a result is a handle although its tool shows results inline. */
export function warnTooLarge(events: TurnEmitter, { id, tool }: ToolCall): void {
  const message = `The result of \`${tool}\` has more than 10 MB of text, which no provider takes: the model gets its beginning and a handle. Use \`inline: false\` for such a tool.`
  events.warnOnce(id, { code: 'RESULT_TOO_LARGE', message, toolCallId: id })
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
