import { brief } from '../../core/error/cut-text.ts'
import { BobbinError } from '../../core/error/error.ts'
import { byteSlices } from '../../spool/byte-slices.ts'
import { pacer } from '../../spool/event-loop.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import { MAX_VALUE_BYTES } from './json-capture.ts'
import { AT_END, unexpectedByte } from './json-fault.ts'
import { isSpace, typeOf } from './json-grammar.ts'
import type { JsonContainer, JsonType, MemberListener, ScanStart } from './json-member.ts'
import { formatPath, type JsonPath, pathLeadsNowhere } from './json-path.ts'
import { JsonScanner } from './json-scanner.ts'

/** A value in a document: where it begins and what it is. `lines` is NDJSON as a whole. */
export interface JsonPlace {
  readonly byte: number
  readonly type: JsonType | 'lines'
  readonly isRoot: boolean
}

/** How long a scan may take. */
export interface ScanOptions {
  readonly signal?: AbortSignal
  /** The time limit; none by default. */
  readonly maxMs?: number
}

/** A listener that may ask for a pause, and what happens then. */
export interface PausingListener extends MemberListener {
  paused?(): Promise<'continue' | 'stop'>
}

/** How a scan ended: at the end of the value, by its listener, or because time was up. */
export interface Scanned {
  readonly by: 'end' | 'listener' | 'time'
  readonly count: number
  readonly behind: number
}

const SHOWN_KEYS = 20

/** Finds the root: one document, or one value a line. A byte order mark in front is passed over. */
export async function findRoot(reader: SpoolReader): Promise<JsonPlace> {
  const head = await reader.read(0, 3)
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
  const byte = await skipSpace(reader, hasMark ? 3 : 0)
  if (await isLines(reader, byte)) return { byte, type: 'lines', isRoot: true }
  return { byte, type: await typeAt(reader, byte), isRoot: true }
}

/** Follows a path from `root`, reading as far as it leads and holding nothing. */
export async function locate(
  reader: SpoolReader,
  root: JsonPlace,
  path: JsonPath,
  { signal }: Pick<ScanOptions, 'signal'> = {},
): Promise<JsonPlace> {
  const options = signal === undefined ? {} : { signal }
  let at = root
  for (const [depth, step] of path.entries()) {
    const container = at.type
    const keys: string[] = []
    let found: JsonPlace | undefined
    const { count } = await scanMembers(reader, at, undefined, options, {
      begin({ index, key, type, start }) {
        if (key === undefined ? String(index) === step : key === step) {
          found = { byte: start, type, isRoot: false }
          return 'stop'
        }
        if (key !== undefined && keys.length < SHOWN_KEYS) keys.push(brief(key, 40))
        return 'skip'
      },
      end: () => 'continue',
    })
    if (found === undefined) {
      const parent = formatPath(path.slice(0, depth))
      throw pathLeadsNowhere(path, `${parent} is ${describeType(container, count, keys)}`)
    }
    at = found
  }
  return at
}

function describeType(type: JsonPlace['type'], count: number, keys: readonly string[]): string {
  if (type === 'array') return `an array of ${count}`
  if (type === 'lines') return `NDJSON with ${count} values`
  if (type !== 'object') return `a value of type ${type}`
  if (count === 0) return 'an empty object'
  const more = count > keys.length ? ` and ${count - keys.length} more` : ''
  // JSON may spell half a surrogate pair in a key, which no provider takes.
  return `an object with the keys ${keys.join(', ').toWellFormed()}${more}`
}

/** Passes over the members of a container, from behind `after` on, in slices that do not block. */
export async function scanMembers(
  reader: SpoolReader,
  place: JsonPlace,
  after: { readonly index: number; readonly byte: number } | undefined,
  { signal, maxMs = Number.POSITIVE_INFINITY }: ScanOptions,
  listener: PausingListener,
): Promise<Scanned> {
  const scanner = new JsonScanner(listener, startOf(place, after))
  const start = after === undefined || after.index === 0 ? place.byte : after.byte
  const deadline = performance.now() + maxMs
  const pace = pacer()
  let at = start
  const isOver = () => scanner.stopped || (scanner.done && !place.isRoot)
  for await (const chunk of reader.stream({ start, borrow: true, ...(signal && { signal }) })) {
    for (const slice of byteSlices(chunk)) {
      const end = at + slice.length
      scanner.write(slice)
      while (scanner.paused && (await listener.paused?.()) === 'continue') {
        scanner.resume()
        scanner.write(slice.subarray(scanner.position - at))
      }
      at = end
      if (isOver()) break
      await pace()
      signal?.throwIfAborted()
      if (performance.now() > deadline && !scanner.done) return ended('time', scanner)
    }
    if (isOver()) break
  }
  if (scanner.stopped) return ended('listener', scanner)
  scanner.finish()
  return ended('end', scanner)
}

const ended = (by: Scanned['by'], { count, behind }: JsonScanner): Scanned => ({
  by,
  count,
  behind,
})

function startOf(
  { byte, type, isRoot }: JsonPlace,
  after: { readonly index: number; readonly byte: number } | undefined,
): ScanStart {
  const lines = type === 'lines'
  const whole = isRoot && !lines
  if (after === undefined || after.index === 0) return { byte, lines, whole }
  const behind = { container: type as JsonContainer, count: after.index }
  return { byte: after.byte, lines, whole, behind }
}

/** The bytes of a small value, as it is written; `E_LIMIT_EXCEEDED` for a large one. */
export async function readValue(
  reader: SpoolReader,
  { byte, type, isRoot }: JsonPlace,
  limit = MAX_VALUE_BYTES,
): Promise<Uint8Array> {
  const bytes = await reader.read(byte, byte + limit + 1)
  const ignore: MemberListener = { begin: () => 'skip', end: () => 'continue' }
  const scanner = new JsonScanner(ignore, { byte: 0 })
  const pace = pacer()
  for (const slice of byteSlices(bytes)) {
    scanner.write(slice)
    if (scanner.done) break
    await pace()
  }
  if (!scanner.done && byte + bytes.length >= reader.byteLength) scanner.finish()
  if (!scanner.done || scanner.position > limit) throw valueTooLarge(type, limit)
  if (isRoot) await requireEnd(reader, byte + scanner.position)
  return bytes.subarray(0, scanner.position)
}

/** An error for a value that has more than `limit` bytes. */
export function valueTooLarge(
  type: JsonPlace['type'],
  limit = MAX_VALUE_BYTES,
): BobbinError<'E_LIMIT_EXCEEDED'> {
  const what = type === 'lines' ? 'NDJSON' : type
  const message = `This ${what} has more than ${limit} bytes: take a part of it by a longer path, by its keys, or by a slice.`
  return new BobbinError('E_LIMIT_EXCEEDED', message, { what: 'json', limit, actual: limit + 1 })
}

/** Only space may follow a document. */
async function requireEnd(reader: SpoolReader, from: number): Promise<void> {
  const at = await skipSpace(reader, from)
  const [byte] = await reader.read(at, at + 1)
  if (byte !== undefined) throw unexpectedByte(at, byte, AT_END)
}

/** NDJSON has a whole value on its first line and another after it. */
async function isLines(reader: SpoolReader, byte: number): Promise<boolean> {
  const line = await reader.lineAt(byte)
  const lineEnd = await reader.lineStart(line + 1)
  if (line + 1 >= reader.lineCount) return false
  if ((await skipSpace(reader, lineEnd)) >= reader.byteLength) return false
  const scanner = new JsonScanner({ begin: () => 'skip', end: () => 'stop' }, { byte, lines: true })
  const pace = pacer()
  try {
    for await (const chunk of reader.stream({ start: byte, end: lineEnd, borrow: true })) {
      for (const slice of byteSlices(chunk)) {
        scanner.write(slice)
        if (scanner.stopped) return true
        await pace()
      }
    }
  } catch (error) {
    if (!(error instanceof BobbinError)) throw error
  }
  return false
}

async function typeAt(reader: SpoolReader, byte: number): Promise<JsonType> {
  const [first = 0] = await reader.read(byte, byte + 1)
  const type = typeOf(first)
  if (type !== undefined) return type
  const found = byte >= reader.byteLength ? 'nothing' : `\`${String.fromCharCode(first)}\``
  const message = `This is not JSON: it begins with ${found}. Read it as text with artifact_head or artifact_grep.`
  throw new BobbinError('E_ARTIFACT_MALFORMED', message, { kind: 'json', position: byte })
}

/** The first byte from `from` on that is not space. */
async function skipSpace(reader: SpoolReader, from: number): Promise<number> {
  const pace = pacer()
  let at = from
  for await (const chunk of reader.stream({ start: from, borrow: true })) {
    const found = chunk.findIndex((byte) => !isSpace(byte))
    if (found !== -1) return at + found
    at += chunk.length
    await pace()
  }
  return at
}
