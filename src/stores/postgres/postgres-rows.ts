import type {
  ConversationRow,
  EntryRow,
  EntryText,
  FoundText,
  GateRow,
} from '../../store/rows/store-rows.ts'
import type { PostgresRow } from './postgres-queries.ts'

// Results are named in one word each: a client may be set up to rename `snake_case`.
/** The columns of a conversation as `conversationRow` reads them. */
export const CONVERSATION = `ref, id, created_at AS created, updated_at AS updated, epoch, owner,
  lease_until AS until, length, sealed_seq AS sealed, seal, key, key_check AS fingerprint, meta, parent,
  envelope, origin, agent`

export const ENTRY_COLUMNS = [
  'seq',
  'kind',
  'turn',
  'id',
  'tool',
  'checksum',
  'settlement',
  'time',
  'digest',
  'seal',
  'body',
] as const satisfies readonly (keyof EntryRow)[]

/** Large numbers come as text, because they could be larger than a number can be. */
export function conversationRow(row: PostgresRow): ConversationRow {
  return {
    id: String(row['id']),
    createdAt: Number(row['created']),
    updatedAt: Number(row['updated']),
    epoch: Number(row['epoch']),
    owner: String(row['owner']),
    leaseUntil: Number(row['until']),
    length: Number(row['length']),
    sealedSeq: Number(row['sealed']),
    seal: String(row['seal']),
    key: row['key'] === null ? null : bytesOf(row['key']),
    keyCheck: String(row['fingerprint']),
    meta: String(row['meta']),
    parent: row['parent'] as string | null,
    envelope: row['envelope'] === null ? null : bytesOf(row['envelope']),
    origin: row['origin'] as string | null,
    agent: row['agent'] as string | null,
  }
}

export function entryText(row: PostgresRow): EntryText {
  return { ...(row as unknown as EntryText), seq: Number(row['seq']) }
}

export function entryRow(row: PostgresRow): EntryRow {
  return { ...(row as unknown as EntryRow), seq: Number(row['seq']), time: Number(row['time']) }
}

export function foundText(row: PostgresRow): FoundText {
  return { ...(row as unknown as FoundText), ...entryText(row), position: Number(row['position']) }
}

export function gateRow(row: PostgresRow): GateRow {
  return row as unknown as GateRow
}

export function bytesOf(value: unknown): Uint8Array {
  return Uint8Array.from(value as Uint8Array)
}
