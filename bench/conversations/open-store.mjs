import { sqliteStore } from '../../dist/stores/sqlite/index.js'

/** The store at `sqlite:<path>`, or at `postgres:<schema>:<url>`. */
export async function openStore(where) {
  const [kind, ...rest] = where.split(':')
  if (kind === 'sqlite') {
    const store = sqliteStore(rest.join(':'))
    return { store, close: () => store.close() }
  }
  const [schema, ...url] = rest
  const { default: postgres } = await import('postgres')
  const { postgresStore } = await import('../../dist/stores/postgres/index.js')
  const client = postgres(url.join(':'), { max: 4, fetch_types: false, onnotice: () => undefined })
  const store = postgresStore({ client, schema })
  const close = async () => {
    await store.close()
    await client.end({ timeout: 5 })
  }
  return { store, close }
}
