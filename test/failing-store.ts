import { memorySpool } from '../src/spool/memory-spool.ts'
import type { SpoolStore } from '../src/spool/spool-store.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'

const ASKED = ['acquire', 'release', 'append', 'find', 'conversation', 'key', 'openGates'] as const

/** A store and a spool of which one question fails once: the one with this number, from 1. */
export function failsOnce(at: number) {
  const own = memoryStore()
  const spool = memorySpool()
  let asked = 0
  const guarded =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (++asked === at) throw new Error('ENOSPC: no space left on device, write')
      return ask(...args)
    }
  const members = ASKED.map((name) => [
    name,
    guarded((own[name] as never as () => never).bind(own)),
  ])
  const store = { ...own, ...(Object.fromEntries(members) as Partial<Store>) }
  const failing: SpoolStore = { ...spool, write: guarded(spool.write.bind(spool)) }
  return { store, sound: own, spool: failing, hasFailed: () => asked >= at }
}
