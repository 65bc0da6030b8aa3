import type { Client } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/json/json.ts'
import { isJsonObject } from './safe-schema.ts'

/** How a call on its way came back: with its result, or with a question while it stays open. */
export type Landing =
  | { readonly result: unknown }
  | { readonly flight: Flight; readonly request: JsonObject }

interface Asked {
  readonly request: JsonObject
  readonly answer: (answer: JsonObject) => void
}

/** One call on its way to a server. Before protocol 2026-07-28 the server asks while the call is open. */
export class Flight {
  readonly result: Promise<unknown>
  readonly #abort = new AbortController()
  #asked: Asked | undefined
  #wake: (() => void) | undefined

  constructor(send: (signal: AbortSignal) => Promise<unknown>) {
    this.result = send(this.#abort.signal)
    // A parked call whose gate was given up may fail later without a reader.
    this.result.catch(() => undefined)
  }

  /** Waits for the result or for a question. */
  async landed(signal: AbortSignal): Promise<Landing> {
    const abort = () => this.#abort.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    const asked = new Promise<void>((resolve) => {
      this.#wake = resolve
      if (this.#asked !== undefined) resolve()
    })
    try {
      const first = await Promise.race([this.result.then((result) => ({ result })), asked])
      if (first !== undefined || this.#asked === undefined) return first ?? { result: undefined }
      return { flight: this, request: this.#asked.request }
    } finally {
      signal.removeEventListener('abort', abort)
      this.#wake = undefined
    }
  }

  ask(request: JsonObject): Promise<JsonObject> {
    return new Promise((resolve) => {
      const answer = (given: JsonObject) => {
        this.#asked = undefined
        resolve(given)
      }
      this.#asked = { request, answer }
      this.#wake?.()
    })
  }

  answer(given: JsonObject): void {
    this.#asked?.answer(given)
  }

  get isAsking(): boolean {
    return this.#asked !== undefined
  }

  abort(reason: Error): void {
    this.#asked?.answer({ action: 'cancel' })
    this.#abort.abort(reason)
  }
}

const MAX_PARKED = 16
const PARKED_MS = 15 * 60_000

/** The calls of one client that are on their way, and those that wait for a person. */
export class Flights {
  readonly #flying = new Set<Flight>()
  readonly #parked = new Map<string, Flight>()

  /** Lets a flight answer for itself what the server asks meanwhile. */
  async during<T>(flight: Flight, work: () => Promise<T>): Promise<T> {
    this.#flying.add(flight)
    try {
      return await work()
    } finally {
      this.#flying.delete(flight)
    }
  }

  park(name: string, flight: Flight): void {
    const [oldest] = this.#parked.keys()
    if (this.#parked.size >= MAX_PARKED && oldest !== undefined) this.#drop(oldest)
    this.#parked.set(name, flight)
    const timer = setTimeout(() => {
      if (this.#parked.get(name) === flight) this.#drop(name)
    }, PARKED_MS)
    // A process that has nothing else to do may end.
    ;(timer as { unref?: () => void }).unref?.()
    flight.result.finally(() => clearTimeout(timer)).catch(() => undefined)
  }

  /** A parked flight, once; undefined in another process. */
  take(name: string): Flight | undefined {
    const flight = this.#parked.get(name)
    this.#parked.delete(name)
    return flight
  }

  close(): void {
    for (const name of [...this.#parked.keys()]) this.#drop(name)
  }

  /**
   * Answers the server's questions on protocols before 2026-07-28. Such a question does not say to which call it belongs:
   * with several calls on their way it is cancelled.
   */
  listen(client: Client): void {
    if (client.getProtocolEra() !== 'legacy') return
    try {
      client.assertCanSetRequestHandler('elicitation/create')
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        const [flight, other] = this.#flying
        // A call that waits for a person may ask again.
        const isOnly = other === undefined && this.#parked.size === 0
        const isClear = flight !== undefined && isOnly && !flight.isAsking
        if (!isClear || !isJsonObject(params)) return { action: 'cancel' }
        return (await flight.ask(params)) as { action: 'accept' }
      })
    } catch {
      // The client does not offer it, or the application answers by itself.
    }
  }

  #drop(name: string): void {
    this.take(name)?.abort(new Error('the question was not answered in time'))
  }
}
