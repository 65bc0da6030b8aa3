import { MAX_TIMER_MS } from './timer-limit.ts'

/** Something under way that an abort, or its own time limit, ends early. */
export interface Watched {
  /** On the clock of `performance.now()`; `Infinity` for no limit. */
  readonly deadline: number
  onAbort(): void
  onTimeout?(): void
}

/**
 * Watches over everything that is under way in a turn with one listener and one timer: most of it ends
 * long before either is needed, and a pair for each costs more than the work itself.
 */
export class AbortWatch {
  readonly #signal: AbortSignal
  /** Most of the time there is one, and a set makes a table anew whenever its only member leaves. */
  #first: Watched | undefined
  readonly #others = new Set<Watched>()
  #listener: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAt = Number.POSITIVE_INFINITY
  /** How many have a time limit: only they may keep the process alive. */
  #limited = 0

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(watched: Watched): void {
    if (this.#listener === undefined) this.#listen()
    if (this.#first === watched || this.#isOther(watched)) return
    if (this.#first === undefined) this.#first = watched
    else this.#others.add(watched)
    const { deadline } = watched
    if (deadline === Number.POSITIVE_INFINITY) return
    this.#limited++
    if (deadline < this.#dueAt) this.#arm(deadline)
    else if (this.#limited === 1) hold(this.#timer, true)
  }

  delete(watched: Watched): void {
    if (this.#first === watched) this.#first = undefined
    else if (!this.#isOther(watched)) return
    else this.#others.delete(watched)
    if (watched.deadline === Number.POSITIVE_INFINITY) return
    this.#limited--
    if (this.#limited === 0) hold(this.#timer, false)
  }

  /**
   * Waits for `work` no longer than the signal allows and rejects with its reason then. Whatever the
   * work still does is nobody's concern any more. What it fails with goes to `onError`, if given.
   */
  orAborted<T>(work: PromiseLike<T>, onError?: (error: unknown) => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const watched = new Waiting(this.#signal, reject)
      if (this.#signal.aborted) watched.onAbort()
      else this.add(watched)
      work.then(
        (value) => {
          this.delete(watched)
          resolve(value)
        },
        (error: unknown) => {
          this.delete(watched)
          if (onError === undefined || this.#signal.aborted) reject(error)
          else resolve(onError(error))
        },
      )
    })
  }

  /**
   * Frees the timer, and the signal: one that is joined from others lives as long as they do while somebody listens,
   * and an application may have one for all its turns.
   */
  clear(): void {
    if (this.#listener !== undefined) this.#signal.removeEventListener('abort', this.#listener)
    this.#listener = undefined
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  /** Looking for an object in a set, even an empty one, gives it a number of its own. */
  #isOther(watched: Watched): boolean {
    return this.#others.size > 0 && this.#others.has(watched)
  }

  /** A copy: whoever is ended leaves. */
  #all(): readonly Watched[] {
    return this.#first === undefined ? [...this.#others] : [this.#first, ...this.#others]
  }

  #listen(): void {
    this.#listener = () => {
      for (const watched of this.#all()) watched.onAbort()
    }
    this.#signal.addEventListener('abort', this.#listener, { once: true })
  }

  /** A timer that is set stays set: it looks for what is due, and sets itself anew for the rest. */
  #arm(dueAt: number): void {
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    const ms = Math.max(1, Math.min(Math.ceil(dueAt - performance.now()), MAX_TIMER_MS))
    this.#timer = setTimeout(() => this.#look(), ms)
    if (this.#limited === 0) hold(this.#timer, false)
  }

  #look(): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    let next = Number.POSITIVE_INFINITY
    for (const watched of this.#all()) {
      if (watched.deadline <= now) watched.onTimeout?.()
      else next = Math.min(next, watched.deadline)
    }
    if (next < this.#dueAt) this.#arm(next)
  }
}

/** Somebody who waits as long as the signal allows. */
class Waiting implements Watched {
  readonly deadline = Number.POSITIVE_INFINITY
  readonly #signal: AbortSignal
  readonly #reject: (reason: unknown) => void

  constructor(signal: AbortSignal, reject: (reason: unknown) => void) {
    this.#signal = signal
    this.#reject = reject
  }

  onAbort(): void {
    this.#reject(this.#signal.reason)
  }
}

/** Whether the timer keeps the process alive; where timers are numbers, none does. */
function hold(timer: unknown, isHeld: boolean): void {
  if (typeof timer !== 'object' || timer === null) return
  const { ref, unref } = timer as { ref?(): unknown; unref?(): unknown }
  ;(isHeld ? ref : unref)?.call(timer)
}
