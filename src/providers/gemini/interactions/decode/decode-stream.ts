import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { withoutRunnerCalls } from '../../../../model/events/assembler.ts'
import type { Finish, ModelEvent } from '../../../../model/events/model-event.ts'
import { broken } from '../../../../model/sse.ts'
import type { DecodeContext, StreamDecoder } from '../../../../model/wire/wire-adapter.ts'
import { asObject, asText, asWord } from '../../../../model/wire/wire-value.ts'
import { eventStepWithArgumentText } from '../wire/argument-text.ts'
import { errorIn, isOver, NOTHING_TOLD, toldBy } from '../wire/ending.ts'
import { failureOfBody } from '../wire/fail.ts'
import { inSnakeCase, type WireEvent, type WireInteraction } from '../wire/wire.ts'
import { decodeResponse } from './decode.ts'
import { StepCollector } from './step-collector.ts'

const NOTHING: readonly ModelEvent[] = []

/** The reducer over the events of one response, which may have taken several requests. */
export function decodeStream(context: DecodeContext): StreamDecoder {
  const collector = new StepCollector()
  let told = NOTHING_TOLD
  let finish: Finish | undefined

  function push(value: unknown, source?: string): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    const given = asObject(value)
    // The client hands on the text of an event that it cannot parse.
    if (typeof value === 'string') throw broken('not-json', 'what it holds is not JSON')
    if (given === undefined) throw broken('unexpected-event', 'an event is not an object')
    const event: WireEvent = given['event_type'] === undefined ? inSnakeCase(given) : given
    switch (event.event_type) {
      case 'step.delta':
        return collector.delta(indexOf(event), event.delta)
      case 'step.start':
        return collector.start(indexOf(event), stepOf(event, source))
      case 'step.stop':
        return collector.stop(indexOf(event))
      case 'interaction.created':
        // The client continues a long response by itself, and gives the events of all requests.
        if (told.token !== undefined) collector.nextRequest()
        told = { ...toldBy(interactionIn(event), told), usage: told.usage }
        return NOTHING
      case 'interaction.status_update':
        told = { ...told, status: asWord(event.status) ?? told.status }
        return NOTHING
      case 'interaction.completed':
        return completed(interactionIn(event))
      case 'error':
        throw failureOfBody(event)
      case undefined:
        if (asObject(event.error) !== undefined) throw failureOfBody(event)
        throw broken('unexpected-event', 'an event has no `event_type`')
      default:
        return NOTHING
    }
  }

  function completed(interaction: WireInteraction): readonly ModelEvent[] {
    told = toldBy(interaction, told)
    if (told.status === 'failed') throw failureOfBody({ error: errorIn(interaction) })
    collector.whole(interaction.steps)
    const mayContinue = told.status === 'requires_continuation' && told.token !== undefined
    if (mayContinue || !isOver(told.status)) return NOTHING
    finish = finishNow()
    return [finish]
  }

  function finishNow(): Finish {
    const { finish: made } = decodeResponse(collector.steps(), told, context)
    if (made === undefined) throw broken('cut', 'its status says that it has not ended')
    return { ...made, unfinished: [...made.unfinished, ...collector.unfinished()] }
  }

  function end(): readonly ModelEvent[] {
    if (finish !== undefined) return NOTHING
    if (told.status === 'failed') throw failureOfBody({ error: errorIn({ status: 'failed' }) })
    if (told.status !== 'requires_continuation' && !CUT.has(told.status ?? '')) {
      throw broken('cut', 'it ended before its last event')
    }
    finish = finishNow()
    return [finish]
  }

  return {
    push,
    end,
    partial: () => {
      if (finish !== undefined) return finish.items
      const { items } = decodeResponse(
        collector.said(),
        { ...told, status: 'in_progress' },
        context,
      )
      return withoutRunnerCalls(items)
    },
    get continuation() {
      return finish === undefined && told.status === 'requires_continuation'
        ? told.token
        : undefined
    },
  }
}

/** A status that may come without a last event, and that permits no call. */
const CUT = new Set(['cancelled', 'incomplete', 'budget_exceeded'])

function indexOf(event: WireEvent): number {
  const { index } = event
  if (typeof index === 'number' && Number.isSafeInteger(index) && index >= 0) return index
  throw broken('unexpected-event', `\`${asText(event.event_type)}\` has no \`index\``)
}

function stepOf(event: WireEvent, source: string | undefined): JsonObject {
  const step: JsonValue | undefined =
    source === undefined || event.step === undefined
      ? event.step
      : eventStepWithArgumentText(event.step, source)
  const object = asObject(step)
  if (object === undefined) throw broken('unexpected-event', '`step.start` has no `step`')
  return object
}

function interactionIn(event: WireEvent): WireInteraction {
  return inSnakeCase(asObject(event.interaction) ?? {})
}
