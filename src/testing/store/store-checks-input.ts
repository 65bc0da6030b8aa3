import assert from 'node:assert/strict'
import type { EntryFilter, Store } from '../../store/store.ts'
import { collected, rejectsWith, type StoreCheck } from './store-check.ts'
import { storeSamples as sample } from './store-samples.ts'

const NO_NUMBERS: readonly unknown[] = [Number.NaN, '2', null, 3n, {}, true]
const NO_WHOLE_NUMBERS: readonly unknown[] = [
  ...NO_NUMBERS,
  1.5,
  -1,
  1e20,
  Number.POSITIVE_INFINITY,
]
const NO_TEXTS: readonly unknown[] = [null, 3, {}, true]
const NO_NAMES: readonly unknown[] = [...NO_TEXTS, '', 'nul\0', 'half \ud83e', 'x'.repeat(513)]

/** An act with the value in the place where it is checked. */
type Act = (store: Store, value: never) => Promise<unknown>

const approval = { verdict: 'approved', decidedBy: 'ada' } as const
const filtered = (name: keyof EntryFilter): Record<string, Act> => ({
  [`find ${name}`]: (store, value) => store.find({ [name]: value }),
  [`count ${name}`]: (store, value) => store.count({ [name]: value }),
})

const WHOLE_NUMBERS: Readonly<Record<string, Act>> = {
  'entries from': (store, from) => collected(store.entries('c', { from })),
  'find limit': (store, limit) => store.find({ limit }),
  'history limit': (store, limit) => store.history({ conversation: 'c', limit }),
  'conversations limit': (store, limit) => store.conversations({ limit }),
  'acquire leaseMs': (store, leaseMs) => store.acquire('new', { owner: 'test', leaseMs }),
  'renew leaseMs': (store, leaseMs) => store.renew('c', 1, leaseMs),
  'renew epoch': (store, epoch) => store.renew('c', epoch),
  'release epoch': (store, epoch) => store.release('c', epoch),
  'append epoch': (store, epoch) => store.append('c', epoch, [sample.note('t', 'n')]),
}

const TEXTS: Readonly<Record<string, Act>> = {
  ...filtered('turnId'),
  ...filtered('kind'),
  ...filtered('id'),
  ...filtered('checksum'),
  ...filtered('tool'),
  ...filtered('settlement'),
  'get kind': (store, kind) => store.get('c', kind, 'id'),
  'get id': (store, id) => store.get('c', 'intent', id),
  'gate id': (store, id) => store.gate('c', id),
  'decideGate id': (store, id) => store.decideGate('c', id, approval),
  'conversations after': (store, after) => store.conversations({ after }),
  'conversations prefix': (store, prefix) => store.conversations({ prefix }),
  'conversations orderBy': (store, orderBy) => store.conversations({ orderBy }),
  'acquire owner': (store, owner) => store.acquire('new', { owner }),
}

const NAMES: Readonly<Record<string, Act>> = {
  ...filtered('conversation'),
  acquire: (store, name) => store.acquire(name, { owner: 'test' }),
  renew: (store, name) => store.renew(name, 1),
  release: (store, name) => store.release(name, 1),
  append: (store, name) => store.append(name, 1, [sample.note('t', 'n')]),
  entries: (store, name) => collected(store.entries(name)),
  get: (store, name) => store.get(name, 'intent', 'id'),
  conversation: (store, name) => store.conversation(name),
  history: (store, conversation) => store.history({ conversation }),
  setMeta: (store, name) => store.setMeta(name, {}),
  key: (store, name) => store.key(name),
  gate: (store, name) => store.gate(name, 'g'),
  openGates: (store, name) => store.openGates(name),
  decideGate: (store, name) => store.decideGate(name, 'g', approval),
  digests: (store, name) => collected(store.digests(name)),
  delete: (store, name) => store.delete(name),
  verify: (store, conversation) => store.verify({ conversation }),
  export: (store, name) => collected(store.export(name)),
}

async function refuses(
  store: Store,
  acts: Readonly<Record<string, Act>>,
  values: readonly unknown[],
): Promise<void> {
  for (const [name, act] of Object.entries(acts)) {
    for (const value of values) {
      const given = typeof value === 'string' ? JSON.stringify(value) : String(value)
      await rejectsWith('E_INVALID_STORE_INPUT', act(store, value as never), `${name} ${given}`)
    }
  }
}

/** Invalid numbers, texts and names are refused before any database sees them. */
export const storeInputChecks: readonly StoreCheck[] = [
  {
    name: 'refuses invalid numbers, texts and names with one code',
    async run({ store }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      await store.append('c', epoch, [sample.intent('t', 'i'), sample.gateOpened('t', 'g')])
      await refuses(store, WHOLE_NUMBERS, NO_WHOLE_NUMBERS)
      await refuses(store, { ...filtered('since'), ...filtered('until') }, NO_NUMBERS)
      await refuses(store, TEXTS, NO_TEXTS)
      await refuses(store, NAMES, NO_NAMES)
      assert.equal((await store.conversations()).length, 1)
      assert.equal((await store.conversation('c'))?.length, 2)
    },
  },
  {
    name: 'takes any bound of time, whole or not',
    async run({ store, clock }) {
      const { epoch } = await store.acquire('c', { owner: 'test' })
      await store.append('c', epoch, [sample.note('t', 'n')])
      const time = clock.now()
      const counted = (filter: EntryFilter) => store.count(filter)
      assert.equal(await counted({ since: time - 0.5, until: time + 0.5 }), 1)
      assert.equal(await counted({ since: time + 0.5 }), 0)
      assert.equal(await counted({ until: time - 0.5 }), 0)
      const { NEGATIVE_INFINITY: since, POSITIVE_INFINITY: until } = Number
      assert.equal(await counted({ since, until }), 1)
      assert.equal(await counted({ since: until }), 0)
    },
  },
]
