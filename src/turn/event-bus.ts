import { isThenable } from '../core/thenable.ts'
import type { EventOrigin } from './turn-events.ts'

/** Hears one kind of event. What it returns is not waited for. */
export type Listener<Content> = (content: Content, origin: EventOrigin) => unknown

type OnFault<Name> = (error: unknown, event: Name, origin: EventOrigin) => void

/**
 * A typed bus whose listeners can neither break nor hold up whoever emits: they are called in order,
 * their promises are not awaited, and what they throw goes to `onFault`.
 */
export class EventBus<Events extends object> {
  /** Lists that are replaced and never changed, so that an event reaches those who listened when it was told. */
  readonly #listeners = new Map<keyof Events, readonly Listener<never>[]>()
  readonly #onFault: OnFault<keyof Events & string>

  constructor(onFault: OnFault<keyof Events & string>) {
    this.#onFault = onFault
  }

  /** Adds a listener and gives the way to remove it. */
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

  /** True when somebody listens: content that costs something is only made then. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.length ?? 0) > 0
  }

  emit<Name extends keyof Events>(name: Name, content: Events[Name], origin: EventOrigin): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined || listeners.length === 0) return
    // What one listener does to the content must not reach the next, nor the turn.
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
