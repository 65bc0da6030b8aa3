import { createStore } from '../../src/store/core/create-store.ts'
import { memoryDriver } from '../../src/store/memory/memory-driver.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { fileMedia, fileSpool } from '../../src/stores/fs/index.ts'
import { postgresSpool, postgresStore } from '../../src/stores/postgres/index.ts'
import { s3Spool } from '../../src/stores/s3/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Kind, type WayIn, way } from './values.ts'

const OPTIONS = ['undefined', 'object', 'date', 'map'] as const
const QUERY = ['object', 'date', 'map'] as const

/** Reads a list to its end, where what is refused is thrown. */
async function readAll(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list);
}

/** A store with one conversation, `c`. */
async function held(): Promise<Store> {
  const store = memoryStore()
  await store.acquire('c', { owner: 'me' })
  return store
}

const on =
  (act: (store: Store, value: never) => unknown) =>
  async (value: never): Promise<unknown> =>
    act(await held(), value)

const CONVERSATION: readonly Kind[] = ['text']

/** Every way into a store; all of them have the same one behind their drivers. */
const STORE: readonly WayIn[] = [
  way(
    'store.acquire',
    on((store, id) => store.acquire(id, { owner: 'me' })),
    ...CONVERSATION,
  ),
  way(
    'store.acquire(id, options)',
    on((store, options) => store.acquire('d', options)),
  ),
  way(
    'store.renew',
    on((store, id) => store.renew(id, 1)),
  ),
  way(
    'store.renew(id, epoch)',
    on((store, epoch) => store.renew('c', epoch)),
  ),
  way(
    'store.release',
    on((store, id) => store.release(id, 1)),
    ...CONVERSATION,
  ),
  way(
    'store.append',
    on((store, id) => store.append(id, 1, [{} as never])),
  ),
  way(
    'store.append(id, epoch, entries)',
    on((store, all) => store.append('c', 1, all)),
    'list',
  ),
  way(
    'store.entries',
    on((store, id) => readAll(store.entries(id))),
    ...CONVERSATION,
  ),
  way(
    'store.entries(id, range)',
    on((store, range) => readAll(store.entries('c', range))),
    ...OPTIONS,
  ),
  way(
    'store.get',
    on((store, id) => store.get(id, 'message', 'a')),
    ...CONVERSATION,
  ),
  way(
    'store.get(id, kind)',
    on((store, kind) => store.get('c', kind, 'a')),
  ),
  way(
    'store.find',
    on((store, query) => store.find(query)),
    ...QUERY,
  ),
  way(
    'store.find({ tool })',
    on((store, tool) => store.find({ tool })),
    'undefined',
    'text',
    'empty text',
  ),
  way(
    'store.find({ tol })',
    on((store, tol) => store.find({ tol } as never)),
  ),
  way(
    'store.count',
    on((store, filter) => store.count(filter)),
    ...QUERY,
  ),
  way(
    'store.conversations',
    on((store, page) => store.conversations(page)),
    ...OPTIONS,
  ),
  way(
    'store.conversations({ meta })',
    on((store, meta) => store.conversations({ meta })),
    'undefined',
    'object',
  ),
  way(
    'store.history',
    on((store, query) => store.history(query)),
  ),
  way(
    'store.history({ conversation, before })',
    on((store, before) => store.history({ conversation: 'c', before })),
    'undefined',
  ),
  way(
    'store.history({ conversation, spool })',
    on((store, spool) => store.history({ conversation: 'c', spool })),
    'undefined',
  ),
  way(
    'store.history({ conversation, artifacts })',
    on((store, artifacts) => store.history({ conversation: 'c', artifacts })),
    'undefined',
    'list',
  ),
  way(
    'store.seed',
    on((store, options) => store.seed(options)),
  ),
  way(
    'store.seed({ items })',
    on((store, items) => store.seed({ items })),
  ),
  way(
    'store.fork',
    on((store, from) => store.fork(from)),
  ),
  way(
    'store.fork(from, options)',
    on((store, options) => store.fork('c', options)),
    ...OPTIONS,
  ),
  way(
    'store.fork(from, { after })',
    on((store, after) => store.fork('c', { after })),
    'undefined',
  ),
  way(
    'store.envelopeKey',
    on((store, id) => store.envelopeKey(id)),
  ),
  way(
    'store.setMeta',
    on((store, id) => store.setMeta(id, {})),
  ),
  way(
    'store.setMeta(id, patch)',
    on((store, patch) => store.setMeta('c', patch)),
    'object',
  ),
  way(
    'store.conversation',
    on((store, id) => store.conversation(id)),
    ...CONVERSATION,
  ),
  way(
    'store.key',
    on((store, id) => store.key(id)),
  ),
  way(
    'store.blob',
    on((store, digest) => store.blob(digest)),
  ),
  way(
    'store.digests',
    on((store, id) => readAll(store.digests(id))),
    'undefined',
    ...CONVERSATION,
  ),
  way(
    'store.delete',
    on((store, id) => store.delete(id)),
    ...CONVERSATION,
  ),
  way(
    'store.verify',
    on((store, request) => store.verify(request)),
  ),
  way(
    'store.export',
    on((store, id) => readAll(store.export(id))),
  ),
  way(
    'store.export(id, options)',
    on((store, from) => readAll(store.export('c', from))),
    ...OPTIONS,
  ),
  way(
    'store.import',
    on((store, lines) => store.import(lines)),
  ),
  way(
    'store.gate',
    on((store, id) => store.gate(id, 'g')),
    ...CONVERSATION,
  ),
  way(
    'store.gate(conversation, id)',
    on((store, id) => store.gate('c', id)),
    'text',
    'empty text',
  ),
  way(
    'store.openGates',
    on((store, id) => store.openGates(id)),
    'undefined',
    ...CONVERSATION,
  ),
  way(
    'store.openGates(conversation, page)',
    on((store, page) => store.openGates('c', page)),
    'undefined',
    'object',
    'date',
    'map',
  ),
  way(
    'store.grants',
    on((store, query) => store.grants(query)),
    ...OPTIONS,
  ),
  way(
    'store.grants({ tool })',
    on((store, tool) => store.grants({ tool })),
    'undefined',
    'text',
    'empty text',
  ),
  way(
    'store.grants({ subject })',
    on((store, subject) => store.grants({ subject })),
    'undefined',
    'text',
    'empty text',
  ),
  way(
    'store.revokeGrant',
    on((store, id) => store.revokeGrant(id, { decidedBy: 'a' })),
  ),
  way(
    'store.revokeGrant(id, by)',
    on((store, by) => store.revokeGrant('g', by)),
  ),
  way(
    'store.grantFor',
    on((store, call) => store.grantFor(call)),
  ),
  way(
    'store.decideGate',
    on((store, decision) => store.decideGate('c', 'g', decision)),
  ),
]

const storeOptions = (name: string, open: (options: never) => unknown): readonly WayIn[] => [
  way(`${name}({ redact })`, (redact) => open({ redact } as never), 'undefined', 'function'),
  way(`${name}({ clock })`, (clock) => open({ clock } as never), 'undefined'),
  way(`${name}({ redct })`, (redct) => open({ redct } as never)),
]

const path = 'never-opened'
const url = 'postgres://127.0.0.1:9/never-opened'
const s3 = {
  bucket: 'spools',
  endpoint: 'http://127.0.0.1:9',
  accessKeyId: 'a',
  secretAccessKey: 'b',
}

/** Every way into stores and the spools of files, by what is exported. */
export const STORES: Readonly<Record<string, readonly WayIn[]>> = {
  memoryStore: [
    way('memoryStore', (options) => memoryStore(options), ...OPTIONS),
    ...storeOptions('memoryStore', memoryStore),
    ...STORE,
  ],
  createStore: [
    way('createStore', (driver) => createStore(driver)),
    way(
      'createStore({ append })',
      (append) => createStore({ ...memoryDriver(), append }),
      'function',
    ),
    way(
      'createStore(driver, options)',
      (options) => createStore(memoryDriver(), options),
      ...OPTIONS,
    ),
    ...storeOptions('createStore', (options) => createStore(memoryDriver(), options)),
  ],
  sqliteStore: [
    way('sqliteStore', (name) => sqliteStore(name), 'text'),
    way('sqliteStore(path, options)', (options) => sqliteStore(path, options), ...OPTIONS),
    ...storeOptions('sqliteStore', (options) => sqliteStore(path, options)),
  ],
  postgresSpool: [
    way('postgresSpool', (options) => postgresSpool(options)),
    way(
      'postgresSpool({ schema })',
      (schema) => postgresSpool({ url, schema }),
      'undefined',
      'text',
    ),
    way(
      'postgresSpool({ tenant })',
      (tenant) => postgresSpool({ url, tenant }),
      'undefined',
      'text',
      'empty text',
    ),
    way(
      'postgresSpool({ quotaBytes })',
      (quotaBytes) => postgresSpool({ url, quotaBytes }),
      'undefined',
      'number',
    ),
    way('postgresSpool({ quota })', (quota) => postgresSpool({ url, quota } as never)),
  ],
  s3Spool: [
    way('s3Spool', (options) => s3Spool(options)),
    way('s3Spool({ bucket })', (bucket) => s3Spool({ ...s3, bucket })),
    way('s3Spool({ region })', (region) => s3Spool({ ...s3, region }), 'undefined', 'text'),
    way('s3Spool({ endpoint })', (endpoint) => s3Spool({ ...s3, endpoint }), 'undefined'),
    way('s3Spool({ client })', (client) => s3Spool({ ...s3, client }), 'undefined'),
    way('s3Spool({ accessKeyId })', (accessKeyId) => s3Spool({ ...s3, accessKeyId }), 'text'),
    way(
      's3Spool({ prefix })',
      (prefix) => s3Spool({ ...s3, prefix }),
      'undefined',
      'text',
      'empty text',
    ),
    way('s3Spool({ tenant })', (tenant) => s3Spool({ ...s3, tenant }), 'undefined', 'text'),
    way(
      's3Spool({ quotaBytes })',
      (quotaBytes) => s3Spool({ ...s3, quotaBytes }),
      'undefined',
      'number',
    ),
    way('s3Spool({ encryption })', (encryption) => s3Spool({ ...s3, encryption }), 'undefined'),
    way('s3Spool({ quota })', (quota) => s3Spool({ ...s3, quota } as never)),
  ],
  postgresStore: [
    way('postgresStore', (options) => postgresStore(options)),
    ...storeOptions('postgresStore', (options: object) => postgresStore({ url, ...options })),
  ],
  fileSpool: [
    way('fileSpool', (folder) => fileSpool(folder), 'text'),
    way('fileSpool(folder, options)', (options) => fileSpool(path, options), ...OPTIONS),
    way('fileSpool(folder, { quota })', (quota) => fileSpool(path, { quota } as never)),
    way('fileSpool.sweep', (live) => fileSpool(path).sweep(live), 'map'),
  ],
  fileMedia: [way('fileMedia', (file) => fileMedia(file))],
}
