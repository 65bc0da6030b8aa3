import { isThenable } from '../core/thenable.ts'
import type { EventOrigin } from './turn-events.ts'

/** Hears one kind of event. What it returns is not waited for. */
export type Listener<Content> = (content: Content, origin: EventOrigin) => unknown

/**
 * A typed bus whose listeners can neither break nor hold up whoever emits: they are called in order,
 * their promises are not awaited, and what they throw goes to `onFault`.
 */
export class EventBus<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>()
  readonly #onFault: (error: unknown, event: string, origin: EventOrigin) => void

  constructor(onFault: (error: unknown, event: string, origin: EventOrigin) => void) {
    this.#onFault = onFault
  }

  /** Adds a listener and gives the way to remove it. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    let listeners = this.#listeners.get(name)
    if (listeners === undefined) this.#listeners.set(name, (listeners = new Set()))
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** True when somebody listens: content that costs something is only made then. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<Name extends keyof Events>(name: Name, content: Events[Name], origin: EventOrigin): void {
    const listeners = this.#listeners.get(name)
    if (listeners === undefined || listeners.size === 0) return
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
    this.#onFault(error, String(name), origin)
  }
}
