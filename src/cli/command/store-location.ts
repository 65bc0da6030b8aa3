import { statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Store } from '../../store/store.ts'
import type { Io } from '../terminal/io.ts'
import type { Options, Values } from './command.ts'
import { usageError } from './usage-error.ts'

export const STORE_OPTIONS = {
  store: {
    type: 'string',
    value: 'PATH',
    help: 'The SQLite file with the records; .bobbin/agent.db unless given',
  },
  json: { type: 'boolean', help: 'Write JSON instead of text' },
} as const satisfies Options

const DEFAULT_STORE = '.bobbin/agent.db'

/** Opens the store for a command, and closes it afterwards, even if the command fails. */
export async function withStore<T>(
  values: Values<typeof STORE_OPTIONS>,
  io: Io,
  { create }: { readonly create: boolean },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const path = storePath(values, io)
  if (create) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  else await requireStore(path, shown(values, io))
  const { sqliteStore } = await import('../../stores/sqlite/index.ts')
  const store = sqliteStore(path)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** A command that only reads must not change a file of another program. */
async function requireStore(path: string, name: string): Promise<void> {
  const file = statSync(path, { throwIfNoEntry: false })
  const wayOut = '`bobbin run` makes one, or name another with --store.'
  if (file === undefined) throw usageError(`The store \`${name}\` does not exist: ${wayOut}`)
  if (file.isDirectory()) throw usageError(`\`${name}\` is a folder, not a store: ${wayOut}`)
  const { isStoreFile } = await import('../../stores/sqlite/is-store-file.ts')
  if (!(await isStoreFile(path))) {
    throw usageError(`\`${name}\` is not a store and was left unchanged: ${wayOut}`)
  }
}

const shown = (values: Values<typeof STORE_OPTIONS>, { env }: Io) =>
  values.store ?? (env['BOBBIN_STORE'] || DEFAULT_STORE)

/** Where the store is; `BOBBIN_STORE` names it for a whole session. */
export function storePath(values: Values<typeof STORE_OPTIONS>, io: Io): string {
  return resolve(io.cwd, shown(values, io))
}
