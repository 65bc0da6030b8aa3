import type {
  ConversationRow,
  EntryRow,
  EntryText,
  FoundText,
  GateRow,
} from '../../store/rows/store-rows.ts'
import type { SqliteRow, SqliteValue } from './sqlite-database.ts'

/**
 * Selects text as bytes, under its own name. `libsql` ends the process when a stored text is not UTF-8, as after a flipped
 * bit; read as bytes, the text is decoded here and found to be damaged.
 */
export const asBytes = (columns: string, table = ''): string =>
  columns
    .split(', ')
    .map((name) => `CAST(${table}${name} AS BLOB) AS ${name}`)
    .join(', ')

/** The columns of an entry, in the order of `entryValues`. */
export const ENTRY_COLUMNS =
  'seq, kind, turn, id, tool, checksum, settlement, time, digest, seal, body'

export function entryValues(row: EntryRow): SqliteValue[] {
  const { seq, kind, turn, id, tool, checksum, settlement, time, digest, seal, body } = row
  return [seq, kind, turn, id, tool, checksum, settlement, time, digest, seal, body]
}

/** The same for reading. */
export const ENTRY_FIELDS = `seq, time, ${asBytes('kind, turn, id, tool, checksum, settlement, digest, seal, body')}`

/** What it takes to read an entry back. */
export const TEXT_FIELDS = `seq, ${asBytes('digest, seal, body')}`

export const CONVERSATION_FIELDS = `ref, created_at, updated_at, epoch, lease_until, length, sealed_seq, key, envelope, ${asBytes('id, owner, seal, key_check, meta, parent, origin, agent')}`

export function entryRow(row: SqliteRow): EntryRow {
  const { kind, turn, id, tool, checksum, settlement } = row
  return {
    ...entryText(row),
    kind: textOf(kind),
    turn: textOf(turn),
    id: textOrNull(id),
    tool: textOrNull(tool),
    checksum: textOrNull(checksum),
    settlement: textOrNull(settlement),
    time: Number(row['time']),
  }
}

export function entryText(row: SqliteRow): EntryText {
  const { seq, digest, seal, body } = row
  return { seq: Number(seq), digest: textOf(digest), seal: textOrNull(seal), body: textOf(body) }
}

export function foundText(row: SqliteRow): FoundText {
  const { conversation, position } = row
  return { ...entryText(row), conversation: textOf(conversation), position: Number(position) }
}

export function gateRow(row: SqliteRow): GateRow {
  const { conversation, id, state, digest, body } = row
  return {
    conversation: textOf(conversation),
    id: textOf(id),
    state: textOf(state),
    digest: textOf(digest),
    body: textOf(body),
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A text that was selected as bytes. An emptied column is an empty text. */
export function textOf(value: unknown): string {
  return textOrNull(value) ?? ''
}

function textOrNull(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : decoder.decode(value as Uint8Array)
}

export function conversationRow(row: SqliteRow): ConversationRow {
  return {
    id: textOf(row['id']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    epoch: Number(row['epoch']),
    owner: textOf(row['owner']),
    leaseUntil: Number(row['lease_until']),
    length: Number(row['length']),
    sealedSeq: Number(row['sealed_seq']),
    seal: textOf(row['seal']),
    key: row['key'] === null ? null : bytesOf(row['key']),
    keyCheck: textOf(row['key_check']),
    meta: textOf(row['meta']),
    parent: textOrNull(row['parent']),
    envelope: row['envelope'] === null ? null : bytesOf(row['envelope']),
    origin: textOrNull(row['origin']),
    agent: textOrNull(row['agent']),
  }
}

/** A copy of the bytes. Bindings give a Buffer, a Uint8Array or an ArrayBuffer. */
export function bytesOf(value: unknown): Uint8Array {
  return Uint8Array.from(new Uint8Array(value as ArrayBuffer))
}
