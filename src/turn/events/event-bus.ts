import { isThenable } from '../../core/thenable.ts'
import type { EventOrigin, FunctionalEvents, ObservedEvents } from './turn-events.ts'

/** Receives one kind of event. A promise that it returns is not awaited. */
export type Listener<Content> = (content: Content, origin: EventOrigin) => unknown

type OnFault<Name> = (error: unknown, event: Name, origin: EventOrigin) => void

/**
 * A typed bus whose listeners can neither break nor delay the turn: they are called in order, their promises are not
 * awaited, and their errors go to `onFault`.
 */
export class EventBus<Events extends object> {
  /** A list is replaced, never changed: an event reaches those who listened when it was emitted. */
  readonly #listeners = new Map<keyof Events, readonly Listener<never>[]>()
  readonly #onFault: OnFault<keyof Events & string>

  constructor(onFault: OnFault<keyof Events & string>) {
    this.#onFault = onFault
  }

  /** Adds a listener; returns a function that removes it. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners.get(name) ?? []
    if (!listeners.includes(listener)) this.#listeners.set(name, [...listeners, listener])
    return () => this.#off(name, listener)
  }

  #off(name: keyof Events, listener: Listener<never>): void {
    const listeners = this.#listeners.get(name) ?? []
    this.#listeners.set(
      name,
      listeners.filter((each) => each !== listener),
    )
  }

  /** Whether the event has listeners: expensive content is only built if it has. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.length ?? 0) > 0
  }

  emit<Name extends keyof Events>(name: Name, content: Events[Name], origin: EventOrigin): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined || listeners.length === 0) return
    // A listener must not change the content for the next one, nor for the turn.
    Object.freeze(content)
    for (const listener of listeners) {
      try {
        const result = (listener as Listener<Events[Name]>)(content, origin)
        if (isThenable(result)) result.then(undefined, (error) => this.#fault(error, name, origin))
      } catch (error) {
        this.#fault(error, name, origin)
      }
    }
  }

  #fault(error: unknown, name: keyof Events, origin: EventOrigin): void {
    this.#onFault(error, name as keyof Events & string, origin)
  }
}

export type ObservedBus = EventBus<ObservedEvents>
export type ContentBus = EventBus<FunctionalEvents>

export interface Buses {
  readonly content: ContentBus
  readonly observed: ObservedBus
}
