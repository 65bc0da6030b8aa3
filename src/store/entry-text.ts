import { sha256Hex } from '#hash'
import { canonicalStringify } from '../core/canonical.ts'
import { BobbinError } from '../core/error.ts'
import { ENTRY_VERSION, type Entry, type EntryKind, type NewEntry } from './entry.ts'
import { invalidInput, storeCorrupt } from './store-errors.ts'
import type { EntryRow, EntryText } from './store-rows.ts'

/** The most that one entry may hold; what is larger belongs on the spool. */
export const MAX_ENTRY_CHARS = 32 * 1024 * 1024

/** Every kind, so that what comes from elsewhere can be checked. */
export const ENTRY_KINDS: readonly EntryKind[] = [
  'message',
  'thought',
  'history-item',
  'intent',
  'settlement',
  'gate-opened',
  'gate-closed',
  'turn-start',
  'turn-end',
  'note',
]

/** What the store adds to an entry. */
export interface EntryStamp {
  readonly seq: number
  readonly time: number
  readonly epoch: number
  readonly redacted?: readonly string[] | undefined
}

/** Writes an entry once, as canonical JSON: those very bytes are hashed and stored. */
export function encodeEntry(entry: NewEntry, stamp: EntryStamp): EntryRow {
  const { kind, turnId, data } = entry
  const { seq, time, epoch, redacted } = stamp
  const stamped = { v: ENTRY_VERSION, kind, seq, turnId, time, epoch, data }
  const body = canonicalStringify(redacted === undefined ? stamped : { ...stamped, redacted })
  if (body.length > MAX_ENTRY_CHARS) throw tooLarge(kind, body.length)
  const digest = sha256Hex(body)
  const { turn, id, tool, checksum, settlement } = columnsOf(entry)
  // One literal: a row that is put together piece by piece takes twice the room, for as long as it is kept.
  return { seq, time, kind, turn, id, tool, checksum, settlement, digest, seal: null, body }
}

type SearchColumns = Pick<EntryRow, 'kind' | 'turn' | 'id' | 'tool' | 'checksum' | 'settlement'>

/** The columns by which an entry is found. */
export function columnsOf(entry: NewEntry): SearchColumns {
  const data = entry.data as Readonly<Record<string, unknown>>
  const { kind } = entry
  const isCall = kind === 'intent' || kind === 'settlement'
  const turn = columnText(entry.turnId)
  return {
    kind,
    turn,
    id: idColumn(entry),
    tool: isCall ? columnOf(data['tool']) : null,
    checksum: isCall ? columnOf(data['checksum']) : null,
    settlement: kind === 'settlement' ? columnOf(data['settlement']) : null,
  }
}

/** The id under which an entry is found among those of its kind; a turn starts once. */
export function idColumn({ kind, turnId, data }: NewEntry): string | null {
  if (kind === 'turn-start') return columnText(turnId)
  return hasNoId(kind) ? null : columnOf((data as { readonly id?: unknown }).id)
}

const hasNoId = (kind: EntryKind) =>
  kind === 'history-item' || kind === 'turn-end' || kind === 'note'

const columnOf = (value: unknown) => (typeof value === 'string' ? columnText(value) : null)

/**
 * Text as it can stand in any database's index: ids come from providers and may hold NUL or half a
 * surrogate pair, or be very long. Different texts stay different.
 */
export function columnText(text: string): string {
  // What is long is not kept.
  if (text.length > MAX_COLUMN) return `\\#${sha256Hex(JSON.stringify(text))}`
  // The entries of a call follow each other.
  if (text !== lastText) [lastText, lastColumn] = [text, shortColumn(text)]
  return lastColumn
}

const MAX_COLUMN = 256

let lastText = ''
let lastColumn = ''

function shortColumn(text: string): string {
  if (text.isWellFormed() && !text.includes('\0') && !text.includes('\\')) return text
  return JSON.stringify(text).slice(1, -1)
}

/** Reads a stored entry; `E_STORE_CORRUPT` when its bytes are not those that were written. */
export function decodeEntry(conversation: string, row: EntryText): Entry {
  const where = `Entry ${row.seq} of conversation \`${conversation}\``
  if (sha256Hex(row.body) !== row.digest) throw storeCorrupt(where, 'its digest does not match')
  return { ...parseBody(where, row.body), digest: row.digest, ...(row.seal && { seal: row.seal }) }
}

type EntryBody = Omit<Entry, 'digest' | 'seal'> & { readonly kind: EntryKind }

/** Parses the stored text of an entry of any version that was ever written. */
export function parseBody(where: string, body: string): Entry {
  let json: EntryBody
  try {
    json = JSON.parse(body) as EntryBody
  } catch {
    throw storeCorrupt(where, 'it is not JSON')
  }
  if (json.v === ENTRY_VERSION) return json as Entry
  const found = Number(json.v)
  const message =
    `${where} has version ${found}, and this package reads versions up to ` +
    `${String(ENTRY_VERSION)}: upgrade it.`
  throw new BobbinError('E_STORE_TOO_NEW', message, { found, supported: ENTRY_VERSION })
}

/** Refuses what is no entry at all; the types cannot speak for JavaScript callers. */
export function assertNewEntry(entry: NewEntry, place: number | string): void {
  const fault = faultOf(entry)
  if (fault === undefined) return
  const where = typeof place === 'number' ? `entries.${place}` : place
  throw invalidInput(`${where}${fault[0]}`, fault[1])
}

/** Which member of an entry breaks which rule. */
function faultOf(entry: NewEntry): readonly [member: string, rule: string] | undefined {
  if (typeof entry !== 'object' || entry === null) return ['', 'must be an object']
  if (!ENTRY_KINDS.includes(entry.kind)) {
    return ['.kind', `must be one of ${ENTRY_KINDS.join(', ')}`]
  }
  if (typeof entry.turnId !== 'string' || entry.turnId === '') {
    return ['.turnId', 'must be a non-empty string']
  }
  const data: unknown = entry.data
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return ['.data', 'must be an object']
  }
  if (hasNoId(entry.kind) || entry.kind === 'turn-start') return undefined
  const { id } = data as { id?: unknown }
  return typeof id === 'string' && id !== ''
    ? undefined
    : ['.data.id', 'must be a non-empty string']
}

const tooLarge = (kind: string, actual: number) =>
  invalidInput(
    kind,
    `has ${actual} characters as an entry, and ${MAX_ENTRY_CHARS} is the most: put large content on the spool and refer to it`,
  )
