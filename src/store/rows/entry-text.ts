import { sha256Hex } from '#hash'
import { BobbinError } from '../../core/error/error.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import { hasJsonForm } from '../../core/json/json-form.ts'
import { canonicalForm } from '../../core/record.ts'
import { ENTRY_VERSION, type Entry, type EntryKind, type NewEntry, versionOf } from '../entry.ts'
import type { GateRequest } from '../gate.ts'
import { invalidInput, storeCorrupt } from '../store-errors.ts'
import { restoredGate, type StoredGate, storedGate } from './gate-form.ts'
import type { EntryRow, EntryText } from './store-rows.ts'

/** The most characters that one entry may have. Larger content belongs on the spool. */
export const MAX_ENTRY_CHARS = 32 * 1024 * 1024

/** Every kind, to check entries from outside. */
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
  'model-call',
  'summary',
  'rewind',
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
  const { kind, turnId } = entry
  const { seq, time, epoch, redacted } = stamp
  const stamped = { v: versionOf(kind), kind, seq, turnId, time, epoch }
  const rest = canonicalStringify(redacted === undefined ? stamped : { ...stamped, redacted })
  // `data` is the first key in canonical order, so a record's text is used as it is.
  const body = `{"data":${dataText(entry)},${rest.slice(1)}`
  if (body.length > MAX_ENTRY_CHARS) throw tooLarge(kind, body.length)
  const digest = sha256Hex(body)
  const { turn, id, tool, checksum, settlement } = columnsOf(entry)
  return { seq, time, kind, turn, id, tool, checksum, settlement, digest, seal: null, body }
}

/** The data of an entry as canonical JSON. It may have been given as a record. */
function dataText(entry: NewEntry): string {
  const data: unknown = entry.kind === 'gate-opened' ? storedGate(entry.data) : entry.data
  return hasJsonForm(data) ? canonicalForm(data) : canonicalStringify(data)
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
  // A gate is closed once, except that it may take a result after it was given up.
  if (kind === 'gate-closed' && data.late) return columnText(`${data.id}~late`)
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
  if (text.length > MAX_COLUMN) return `\\#${sha256Hex(JSON.stringify(text))}`
  if (text.isWellFormed() && !text.includes('\0') && !text.includes('\\')) return text
  return JSON.stringify(text).slice(1, -1)
}

const MAX_COLUMN = 256

/** Reads a stored entry; `E_STORE_CORRUPT` if its bytes have changed. */
export function decodeEntry(conversation: string, row: EntryText): Entry {
  const where = `Entry ${row.seq} of conversation \`${conversation}\``
  if (sha256Hex(row.body) !== row.digest) throw storeCorrupt(where, 'its digest does not match')
  return { ...parseBody(where, row.body), digest: row.digest, ...(row.seal && { seal: row.seal }) }
}

/** The version may be anything: a newer package wrote it. */
type EntryBody = Omit<Entry, 'digest' | 'seal' | 'v'> & {
  readonly kind: EntryKind
  readonly v: unknown
}

/** Parses the stored text of an entry of any version up to the current one. */
export function parseBody(where: string, body: string): Entry {
  let json: EntryBody
  try {
    json = JSON.parse(body) as EntryBody
  } catch {
    throw storeCorrupt(where, 'it is not JSON')
  }
  if (isKnownVersion(json.v)) return readable(json as Entry)
  const found = Number(json.v)
  const message =
    `${where} has version ${found}, and this package reads versions up to ` +
    `${ENTRY_VERSION}: upgrade it.`
  throw new BobbinError('E_STORE_TOO_NEW', message, { found, supported: ENTRY_VERSION })
}

/** Whether this package reads entries of this version. */
export const isKnownVersion = (version: unknown): boolean =>
  Number.isInteger(version) && Number(version) >= 1 && Number(version) <= ENTRY_VERSION

function readable(entry: Entry): Entry {
  if (entry.kind !== 'gate-opened') return entry
  return { ...entry, data: restoredGate(entry.data as unknown as StoredGate<GateRequest>) }
}

/** Refuses invalid entries, which JavaScript callers can pass in spite of the types. */
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
  if (entry.kind === 'gate-opened' && 'type' in data) {
    return ['.data.type', 'is now `kind`, with `from` beside it']
  }
  if (entry.kind === 'gate-opened' && 'callId' in data) {
    return ['.data.callId', 'is now `toolCallId`']
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
