import { BobbinError } from '../../src/core/error/error.ts'
import type { Store } from '../../src/store/store.ts'
import { byHand } from '../turn-samples.ts'
import type { Disturbance } from './program.ts'

/** Waits so many microtasks. */
async function ticks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await Promise.resolve()
}

/** What nobody will ever hear of. */
export const never = <T>() => new Promise<T>(() => {})

/**
 * One process: it counts the steps that it takes, something comes between at one of them, and when it dies
 * nothing of it goes on.
 */
export class Life {
  isDead = false
  isOver = false
  /** How many store operations fail from now on. */
  faults = 0
  readonly died = byHand()
  readonly abort = new AbortController()
  /** What came between, if anything did. */
  struck: Disturbance['what'] | undefined
  /** Whether somebody else may have the conversation by now. */
  get isRivalled(): boolean {
    return this.struck?.startsWith('rival') === true || this.struck === 'delete'
  }
  #steps = 0
  readonly #disturbance: Disturbance | undefined
  readonly #strike: (life: Life, what: Disturbance['what']) => void

  constructor(
    disturbance: Disturbance | undefined,
    strike: (life: Life, what: Disturbance['what']) => void,
  ) {
    this.#disturbance = disturbance
    this.#strike = strike
  }

  /** Told at every point at which something may come between. */
  step(): void {
    this.#steps++
    const planned = this.#disturbance
    if (planned === undefined || this.#steps !== planned.at) return
    const strike = () => {
      if (this.isOver || this.isDead) return
      this.struck = planned.what
      if (planned.what === 'abort') this.abort.abort()
      else if (planned.what === 'crash') this.die()
      else if (planned.what === 'fault') this.faults = 1
      else if (planned.what === 'faults') this.faults = Number.POSITIVE_INFINITY
      else this.#strike(this, planned.what)
    }
    if (planned.offset === 0) strike()
    else void ticks(planned.offset).then(strike)
  }

  die(): void {
    this.isDead = true
    this.died.resolve()
  }

  /** Lets others go first; a dead process never comes back from it. */
  async pause(count: number): Promise<void> {
    await ticks(count)
    this.step()
    if (this.isDead) await never()
  }
}

const METHODS = [
  'acquire',
  'renew',
  'release',
  'append',
  'get',
  'find',
  'count',
  'conversations',
  'conversation',
  'key',
  'gate',
  'openGates',
  'decideGate',
  'blob',
] as const

type Method = (...args: never[]) => Promise<unknown>

/** The store as one process sees it: out of reach once the process is dead, failing where it is told to. */
export function storeOf(
  store: Store,
  life: Life,
  onDone: (method: string, args: readonly unknown[]) => void,
): Store {
  const wrapped = (method: (typeof METHODS)[number]) => {
    const real = store[method] as Method
    return (...args: never[]) => {
      life.step()
      if (life.isDead) return never()
      if (life.faults > 0) {
        life.faults--
        const message = 'The database is out of reach.'
        return Promise.reject(new BobbinError('E_STORE_UNAVAILABLE', message, {} as never))
      }
      const result = real(...args)
      const passOn = (value: unknown) => {
        onDone(method, args)
        life.step()
        return life.isDead ? never() : value
      }
      return result.then(passOn, (error: unknown) =>
        life.isDead ? never() : Promise.reject(error),
      )
    }
  }
  const methods = Object.fromEntries(METHODS.map((method) => [method, wrapped(method)]))
  return {
    ...store,
    ...methods,
    async *entries(...args) {
      life.step()
      if (life.isDead) await never()
      yield* store.entries(...args)
    },
  }
}
