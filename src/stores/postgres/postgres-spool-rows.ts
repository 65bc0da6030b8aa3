import { sha256Hex } from '#hash'
import { BobbinError } from '../../core/error/error.ts'
import type { BlockSource } from '../../spool/indexed-reader.ts'
import { BLOCK_BYTES, type LineIndex } from '../../spool/line-index.ts'
import { encodeLineIndex } from '../../spool/line-index-file.ts'
import { spoolCorrupt, spoolNotFound } from '../../spool/spool-errors.ts'
import { wind } from '../../spool/wind.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import type { PostgresRow } from './postgres-queries.ts'
import type { Tables } from './postgres-tables.ts'

/** A row of the spools: whole if it has a digest, else still being written. */
interface SpoolRow {
  readonly id: string
  readonly digest: string | undefined
  readonly byteLength: number
}

/** Blocks per query of a stream: 1 MB. */
const BLOCKS_AT_ONCE = 4
const PAGE = 500
const ONCE_MORE_IS_SAFE = { findsOut: true }

/** The statements of one tenant's spools. Every change may be repeated safely. */
export type SpoolRows = ReturnType<typeof spoolRows>

export function spoolRows(
  connection: PostgresConnection,
  { spools, spoolBlocks }: Tables,
  tenant: string,
) {
  const change = (what: string, text: string, values: readonly (string | number | Uint8Array)[]) =>
    connection.write(what, (queries) => queries.change(text, values), ONCE_MORE_IS_SAFE)
  const read = (what: string, text: string, values: readonly (string | number)[]) =>
    connection.read(what, (queries) => queries.rows(text, values))

  /** The blocks `from` to `to`, exclusive, of a whole spool. */
  async function blocks(digest: string, from: number, to: number): Promise<readonly Uint8Array[]> {
    const found = await read(
      'read a spool',
      `SELECT b.bytes FROM ${spools} s JOIN ${spoolBlocks} b ON b.spool = s.id
       WHERE s.tenant = $1 AND s.digest = $2 AND b.number >= $3 AND b.number < $4
       ORDER BY b.number`,
      [tenant, digest, from, to],
    )
    if (found.length === to - from) return found.map(bytesOf)
    if ((await find(digest)) === undefined) throw spoolNotFound(digest)
    throw spoolCorrupt(digest, 'length')
  }

  async function find(digest: string) {
    const [row] = await read(
      'read a spool',
      `SELECT byte_length, lines FROM ${spools} WHERE tenant = $1 AND digest = $2`,
      [tenant, digest],
    )
    return row && { byteLength: Number(row['byte_length']), lines: row['lines'] as Uint8Array }
  }

  return {
    find,

    async begin(id: string, now: number) {
      await change(
        'write a spool',
        `INSERT INTO ${spools} (id, tenant, byte_length, written_at) VALUES ($1, $2, 0, $3)
         ON CONFLICT DO NOTHING`,
        [id, tenant, now],
      )
    },

    /** Adds a block, and renews the time: a sweep leaves alone what is being written. */
    async addBlock(id: string, number: number, bytes: Uint8Array, now: number) {
      const length = number * BLOCK_BYTES + bytes.length
      await connection.write(
        'write a spool',
        async (queries) => {
          await queries.change(
            `INSERT INTO ${spoolBlocks} (spool, number, bytes) VALUES ($1, $2, $3)
             ON CONFLICT DO NOTHING`,
            [id, number, bytes],
          )
          await queries.change(
            `UPDATE ${spools} SET byte_length = $2, written_at = $3 WHERE id = $1`,
            [id, length, now],
          )
        },
        ONCE_MORE_IS_SAFE,
      )
    },

    /** Gives a whole spool its digest. Equal content is replaced: this repairs a damaged copy and renews its time. */
    async finish(id: string, index: LineIndex, now: number) {
      const { digest } = index
      await connection.write(
        'write a spool',
        async (queries) => {
          // Two writers of the same content take turns.
          await queries.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
            `${tenant}/${digest}`,
          ])
          await queries.change(
            `DELETE FROM ${spools} WHERE tenant = $1 AND digest = $2 AND id <> $3`,
            [tenant, digest, id],
          )
          const named = await queries.change(
            `UPDATE ${spools} SET digest = $2, lines = $3, written_at = $4 WHERE id = $1`,
            [id, digest, encodeLineIndex(index), now],
          )
          // Thrown inside the transaction, so that an older copy stays.
          if (named === 0) throw sweptMeanwhile()
        },
        ONCE_MORE_IS_SAFE,
      )
    },

    drop: (id: string) => change('drop a spool', `DELETE FROM ${spools} WHERE id = $1`, [id]),

    /** Deletes a spool unless it was written again meanwhile. */
    dropOld: async (id: string, olderThan: number) =>
      (await change('sweep spools', `DELETE FROM ${spools} WHERE id = $1 AND written_at < $2`, [
        id,
        olderThan,
      ])) > 0,

    delete: async (digest: string) =>
      (await change('delete a spool', `DELETE FROM ${spools} WHERE tenant = $1 AND digest = $2`, [
        tenant,
        digest,
      ])) > 0,

    /** The bytes of this tenant, unfinished spools included. */
    async used(): Promise<number> {
      const [row] = await read(
        'count spools',
        `SELECT coalesce(sum(byte_length), 0)::bigint AS used FROM ${spools} WHERE tenant = $1`,
        [tenant],
      )
      return Number(row?.['used'] ?? 0)
    },

    async *all(): AsyncGenerator<SpoolRow> {
      for (let after = ''; ; ) {
        const page = await read(
          'list spools',
          `SELECT id, digest, byte_length FROM ${spools} WHERE tenant = $1 AND id > $2
           ORDER BY id LIMIT ${PAGE}`,
          [tenant, after],
        )
        for (const row of page) {
          const digest = (row['digest'] ?? undefined) as string | undefined
          yield { id: row['id'] as string, digest, byteLength: Number(row['byte_length']) }
        }
        if (page.length < PAGE) return
        after = page.at(-1)?.['id'] as string
      }
    },

    async block(digest: string, number: number): Promise<Uint8Array> {
      const [block] = await blocks(digest, number, number + 1)
      return block as Uint8Array
    },

    /** The bytes from `start` to `end`, unchecked. */
    async *stream(digest: string, start: number, end: number, signal?: AbortSignal) {
      const last = Math.ceil(end / BLOCK_BYTES)
      for (let from = Math.floor(start / BLOCK_BYTES); from < last; from += BLOCKS_AT_ONCE) {
        signal?.throwIfAborted()
        const several = await blocks(digest, from, Math.min(last, from + BLOCKS_AT_ONCE))
        for (const [i, block] of several.entries()) {
          const at = (from + i) * BLOCK_BYTES
          const expected = Math.min(BLOCK_BYTES, end - at)
          if (block.length < expected) throw spoolCorrupt(digest, 'length')
          signal?.throwIfAborted()
          yield block.subarray(Math.max(0, start - at), Math.min(block.length, end - at))
        }
      }
    },
  }
}

/** The bytes of one stored spool. */
export function spoolSource(rows: SpoolRows, index: LineIndex): BlockSource {
  const { digest, byteLength } = index
  return {
    async block(number) {
      const block = await rows.block(digest, number)
      if (sha256Hex(block) !== index.blockHashes[number]) {
        throw spoolCorrupt(digest, `block ${number}`)
      }
      return block
    },
    stream: (start, end, { signal }) => rows.stream(digest, start, end, signal),
    async verify() {
      const found = await rows.find(digest)
      if (found === undefined) throw spoolNotFound(digest)
      const actual = await wind(rows.stream(digest, 0, byteLength), { put() {} })
      if (actual.digest !== digest) throw spoolCorrupt(digest, 'bytes')
      const isSame = Buffer.compare(found.lines, encodeLineIndex(actual)) === 0
      if (!isSame) throw spoolCorrupt(digest, 'index')
    },
  }
}

function sweptMeanwhile() {
  const message = 'A sweep removed the spool while it was written, because it paused for too long.'
  return new BobbinError('E_SPOOL_WRITE_FAILED', `${message} Write it again.`, { reason: 'sweep' })
}

const bytesOf = (row: PostgresRow) => row['bytes'] as Uint8Array
