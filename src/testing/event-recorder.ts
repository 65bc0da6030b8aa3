import { wrongInput } from '../core/error/wrong-input.ts'
import type { Listener } from '../turn/events/event-bus.ts'
import { CONTENT_EVENTS, OBSERVED_EVENTS } from '../turn/events/event-names.ts'
import type { EventOrigin, FunctionalEvents, ObservedEvents } from '../turn/events/turn-events.ts'

type AllEvents = FunctionalEvents & ObservedEvents
type EventName = keyof AllEvents

/** One event with its name, its bus and where it belongs. */
export type RecordedEvent = {
  [Name in EventName]: {
    readonly bus: 'content' | 'observed'
    readonly name: Name
    readonly content: AllEvents[Name]
    readonly origin: EventOrigin
  }
}[EventName]

/** The events so far, in order. */
export interface EventRecorder {
  readonly events: readonly RecordedEvent[]
  /** The names in order, both buses. */
  readonly names: readonly EventName[]
  /** The contents of one kind of event. */
  of<Name extends EventName>(name: Name): readonly AllEvents[Name][]
  /** Stops listening. */
  stop(): void
}

interface EventSource {
  on<Name extends keyof FunctionalEvents>(
    name: Name,
    listener: Listener<FunctionalEvents[Name]>,
  ): () => void
  observe<Name extends keyof ObservedEvents>(
    name: Name,
    listener: Listener<ObservedEvents[Name]>,
  ): () => void
}

/** Listens to every event of both buses of a runner. */
export function eventRecorder(runner: EventSource): EventRecorder {
  if (typeof runner?.on !== 'function' || typeof runner.observe !== 'function') {
    const rule = 'must be a runner: `eventRecorder(new TurnRunner({ … }))`'
    throw wrongInput('eventRecorder', 'runner', rule)
  }
  const events: RecordedEvent[] = []
  const hear = (bus: RecordedEvent['bus'], name: EventName) => {
    return (content: unknown, origin: EventOrigin) =>
      void events.push({ bus, name, content, origin } as RecordedEvent)
  }
  const offs = [
    ...CONTENT_EVENTS.map((name) => runner.on(name, hear('content', name))),
    ...OBSERVED_EVENTS.map((name) => runner.observe(name, hear('observed', name))),
  ]
  return {
    events,
    get names() {
      return events.map(({ name }) => name)
    },
    of: <Name extends EventName>(name: Name) =>
      events.flatMap((event) => (event.name === name ? [event.content as AllEvents[Name]] : [])),
    stop: () => {
      for (const off of offs) off()
    },
  }
}
