import type { Sql } from 'postgres'
import { type Clock, systemClock } from '../../core/clock.ts'
import { requireOptions } from '../../core/error/wrong-input.ts'
import { type IdSource, randomId } from '../../core/ids.ts'
import { assertDigest } from '../../spool/digest-name.ts'
import { indexedReader } from '../../spool/indexed-reader.ts'
import type { LineIndex } from '../../spool/line-index.ts'
import { decodeLineIndex } from '../../spool/line-index-file.ts'
import { spoolCorrupt, spoolNotFound, spoolQuota } from '../../spool/spool-errors.ts'
import { assertGrace, assertLive, assertQuota } from '../../spool/spool-settings.ts'
import { DEFAULT_GRACE_MS, type SpoolStore } from '../../spool/spool-store.ts'
import { holdErrors } from '../../spool/unread-stream.ts'
import { wind } from '../../spool/wind.ts'
import { invalidInput } from '../../store/store-errors.ts'
import { connectionTo } from './postgres-client.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { type SpoolRows, spoolRows, spoolSource } from './postgres-spool-rows.ts'
import { type Tables, tablesIn } from './postgres-tables.ts'

/** Where the database is, and how the spool is bounded. */
export interface PostgresSpoolOptions {
  /** Where the server is, as in `postgres://user:password@host:5432/database`. */
  readonly url?: string
  /** A client of the `postgres` package to use instead; it stays open when the spool is closed. */
  readonly client?: Sql
  /** The PostgreSQL schema that holds the tables, made if it is not there; `public` unless given. */
  readonly schema?: string
  /** Whose spools these are; tenants share the tables and nothing else. */
  readonly tenant?: string
  /** The most bytes of content this tenant may store; a write that would exceed it is refused. */
  readonly quotaBytes?: number
  readonly clock?: Clock
}

const OPTIONS = ['url', 'client', 'schema', 'tenant', 'quotaBytes', 'clock']
const MAX_TENANT = 256

/** A spool in PostgreSQL, and its end. */
export interface PostgresSpool extends SpoolStore {
  /** Frees the connections; the spool cannot be used afterwards. */
  close(): Promise<void>
}

/** A durable, content-addressed spool in tables of PostgreSQL, for those who want one database and no bucket. */
export function postgresSpool(options: PostgresSpoolOptions): PostgresSpool {
  requireOptions('postgresSpool', options, OPTIONS)
  const { url, client, schema = 'public', ...bounds } = options
  if ((url === undefined) === (client === undefined)) {
    throw invalidInput('options', 'must have either `url` or `client`')
  }
  const tables = tablesIn(schema)
  const server = { url, client, connections: 4, retryTimeoutMs: 5000 }
  const connection = connectionTo(server, tables)
  const spool = spoolIn(connection, tables, bounds)
  return { ...spool, close: () => connection.close() }
}

/** A spool in the tables of a connection that is closed elsewhere. */
export function spoolIn(
  connection: PostgresConnection,
  tables: Tables,
  bounds: Pick<PostgresSpoolOptions, 'tenant' | 'quotaBytes' | 'clock'> = {},
  newId: IdSource = randomId,
): SpoolStore {
  const { clock = systemClock, tenant = '' } = bounds
  if (typeof tenant !== 'string' || tenant.length > MAX_TENANT) {
    throw invalidInput('tenant', `must be a text of at most ${MAX_TENANT} characters`)
  }
  const quota = bounds.quotaBytes === undefined ? undefined : assertQuota(bounds.quotaBytes)
  const rows = spoolRows(connection, tables, tenant)
  const readerOf = (index: LineIndex) => indexedReader(index, spoolSource(rows, index))
  return {
    durable: true,

    async write(data, how) {
      holdErrors(data)
      const signal = how?.signal
      const id = newId()
      let number = 0
      try {
        await rows.begin(id, clock.now())
        const index = await wind(data, {
          ...(signal && { signal }),
          async put(block) {
            await rows.addBlock(id, number++, block, clock.now())
            if (quota === undefined) return
            const used = await rows.used()
            if (used > quota) throw spoolQuota(quota, used - block.length)
          },
        })
        await rows.finish(id, index, clock.now())
        return readerOf(index)
      } catch (error) {
        // A failure is ignored: the next sweep removes it, and the first error is the one to report.
        await rows.drop(id).catch(() => undefined)
        throw error
      }
    },

    read: async (digest) => readerOf(await openIndex(rows, assertDigest(digest))),

    delete: async (digest) => rows.delete(assertDigest(digest)),

    async *digests() {
      for await (const { digest } of rows.all()) if (digest !== undefined) yield digest
    },

    async sweep(live, { graceMs = DEFAULT_GRACE_MS } = {}) {
      assertLive(live)
      const olderThan = clock.now() - assertGrace(graceMs)
      let [kept, deleted, bytesFreed] = [0, 0, 0]
      for await (const { id, digest, byteLength } of rows.all()) {
        const isLive = digest !== undefined && live.has(digest)
        const isGone = !isLive && (await rows.dropOld(id, olderThan))
        if (isGone) bytesFreed += byteLength
        // Leftovers of interrupted writes are not spools.
        if (digest === undefined) continue
        if (isGone) deleted++
        else kept++
      }
      return { kept, deleted, bytesFreed }
    },
  }
}

async function openIndex(rows: SpoolRows, digest: string): Promise<LineIndex> {
  const found = await rows.find(digest)
  if (found === undefined) throw spoolNotFound(digest)
  const { byteLength, lines } = found
  const stored = decodeLineIndex(lines, { digest, byteLength })
  if (stored.state === 'sound') return stored.index
  // The bytes count; a damaged index stays as it is, so that `verify` still finds it.
  const index = await wind(rows.stream(digest, 0, byteLength), { put() {} })
  if (index.digest !== digest) throw spoolCorrupt(digest, 'bytes')
  return index
}
