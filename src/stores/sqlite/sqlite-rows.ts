import type { ConversationRow, EntryRow } from '../../store/rows/store-rows.ts'
import type { SqliteRow, SqliteValue } from './sqlite-database.ts'

/** The columns of an entry, in the order of `entryValues`. */
export const ENTRY_COLUMNS =
  'seq, kind, turn, id, tool, checksum, settlement, time, digest, seal, body'

export function entryValues(row: EntryRow): SqliteValue[] {
  const { seq, kind, turn, id, tool, checksum, settlement, time, digest, seal, body } = row
  return [seq, kind, turn, id, tool, checksum, settlement, time, digest, seal, body]
}

/** What it takes to read an entry back. */
export const TEXT_COLUMNS = 'seq, digest, seal, body'

export function conversationRow(row: SqliteRow): ConversationRow {
  return {
    id: String(row['id']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    epoch: Number(row['epoch']),
    owner: String(row['owner']),
    leaseUntil: Number(row['lease_until']),
    length: Number(row['length']),
    sealedSeq: Number(row['sealed_seq']),
    seal: String(row['seal']),
    key: row['key'] === null ? null : bytesOf(row['key']),
    keyCheck: String(row['key_check']),
  }
}

/** A copy of the bytes. Bindings give a Buffer, a Uint8Array or an ArrayBuffer. */
export function bytesOf(value: unknown): Uint8Array {
  return Uint8Array.from(new Uint8Array(value as ArrayBuffer))
}
