import type { NewEntry } from '../src/store/entry.ts'
import type { Store } from '../src/store/store.ts'
import { byHand } from './turn-samples.ts'

/** The store of a process that dies as soon as such an entry is stored. */
export function diesBehind(
  store: Store,
  isLast: (entry: NewEntry, conversation: string) => boolean,
) {
  const { promise: died, resolve: die } = byHand()
  let isDead = false
  const whileAlive =
    <A extends unknown[], R>(ask: (...args: A) => Promise<R>) =>
    (...args: A) =>
      isDead ? new Promise<never>(() => {}) : ask(...args)
  const append: Store['append'] = async (...args) => {
    const stored = await store.append(...args)
    if (!args[2].some((entry) => isLast(entry, args[0]))) return stored
    isDead = true
    die()
    return new Promise<never>(() => {})
  }
  const mortal: Store = {
    ...store,
    append: whileAlive(append),
    acquire: whileAlive(store.acquire.bind(store)),
    release: whileAlive(store.release.bind(store)),
    renew: whileAlive(store.renew.bind(store)),
  }
  return { mortal, died }
}
