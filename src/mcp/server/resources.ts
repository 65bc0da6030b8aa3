import { ToolCall } from '../../records/tool-call.ts'
import { type Artifact, isArtifact } from '../../spool/artifact.ts'
import { Media } from '../../spool/media.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { restoreFrom } from '../../store/feed/follow.ts'
import type { RunnerStore } from '../../store/store.ts'
import { storedResults } from '../../store/stored-results.ts'

/** How many bytes one reading gives at most. */
const MAX_BYTES = 256 * 1024

/** The address pattern of results that are too large to be sent with their call. */
export const RESULT_TEMPLATE = 'bobbin://result/{conversation}/{call}/{index}{?start,end}'

/** The address of a result. */
export const resultUri = (conversation: string, call: string, index: number): string =>
  `bobbin://result/${conversation}/${call}/${index}`

const PATTERN = /^bobbin:\/\/result\/(mcp-[0-9a-f-]{36})\/([\w.~-]{1,200})\/(\d{1,4})(?:\?(.*))?$/

/** Where results are found again. */
export interface ResultPlace {
  readonly store: RunnerStore
  readonly spool: SpoolStore
}

/**
 * The contents of a result, or of a part of it by bytes. A text is cut between characters: parts that lie next to each other
 * are the whole text together. Undefined if there is no such result.
 */
export async function readResult(place: ResultPlace, uri: string) {
  const result = await resultAt(place, uri)
  const reader = await readerOf(place, result)
  if (reader === undefined) return undefined
  const [address = '', query] = uri.split('?')
  const asked = new URLSearchParams(query)
  const size = reader.byteLength
  const start = Math.min(countIn(asked.get('start'), 0), size)
  const end = Math.max(start, Math.min(countIn(asked.get('end'), size), start + MAX_BYTES, size))
  const isText = !Media.isMedia(result)
  const part = await (isText ? textPart(reader, start, end) : bytesPart(reader, start, end))
  const next = part.end < size && { 'bobbin-adk/next': `${address}?start=${part.end}` }
  const meta = { uri, _meta: { 'bobbin-adk/size': size, ...next } }
  if (Media.isMedia(result)) return { ...meta, mimeType: result.mimeType, blob: base64(part.bytes) }
  const mimeType = (result as Artifact).kind === 'json' ? 'application/json' : 'text/plain'
  // A byte order mark is a part of the text like any other.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(part.bytes)
  return { ...meta, mimeType, text }
}

type RangeReader = Pick<SpoolReader, 'read' | 'byteLength'>

/** Reads a result in ranges; undefined for what has no bytes. */
async function readerOf(
  { store, spool }: ResultPlace,
  result: unknown,
): Promise<RangeReader | undefined> {
  if (Media.isMedia(result)) {
    return result.digest === undefined ? undefined : storedResults(store, spool).read(result.digest)
  }
  // The reader is meant for subclasses; reading a range is the other use.
  return isArtifact(result) ? (result as unknown as { reader: RangeReader }).reader : undefined
}

interface Part {
  readonly bytes: Uint8Array
  /** The byte after the last. */
  readonly end: number
}

const bytesPart = async (reader: RangeReader, start: number, end: number): Promise<Part> => ({
  bytes: await reader.read(start, end),
  end,
})

/** The characters that begin in a range, or the one around it. */
async function textPart(reader: RangeReader, start: number, end: number): Promise<Part> {
  const from = Math.max(0, start - MAX_CHARACTER)
  const bytes = await reader.read(from, end + MAX_CHARACTER)
  const first = characterAt(bytes, start - from)
  let last = characterAt(bytes, end - from)
  if (last === first && end > start) last = Math.min(nextCharacter(bytes, first), bytes.length)
  return { bytes: bytes.subarray(first, last), end: from + last }
}

const MAX_CHARACTER = 4
const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Where the character around a byte begins. */
function characterAt(bytes: Uint8Array, at: number): number {
  let place = at
  while (place > 0 && at - place < MAX_CHARACTER - 1 && isInside(bytes[place])) place -= 1
  return place
}

function nextCharacter(bytes: Uint8Array, at: number): number {
  let place = at + 1
  while (place - at < MAX_CHARACTER && isInside(bytes[place])) place += 1
  return place
}

/** The result at an address, even from before a restart. Undefined if the address has no result. */
export async function resultAt({ store, spool }: ResultPlace, uri: string): Promise<unknown> {
  const [, conversation = '', call = '', index = ''] = PATTERN.exec(uri) ?? []
  const known = conversation === '' ? undefined : await store.conversation(conversation)
  const settled = known && (await settledCall({ store, spool }, conversation, call))
  return settled && resultsOf(settled)[Number(index)]
}

/** The record of a call; undefined if it has none yet. */
export async function settledCall(
  { store, spool }: ResultPlace,
  conversation: string,
  call: string,
): Promise<ToolCall | undefined> {
  const entry = await store.get(conversation, 'settlement', call)
  return entry && ToolCall.fromJSON(entry.data, restoreFrom(store, spool))
}

/** The results of a call in their order, media in their places. */
export function resultsOf({ results, media = [] }: ToolCall): readonly unknown[] {
  const list: unknown[] = Array.isArray(results) ? [...(results as unknown[])] : [results]
  for (const each of media) list.splice(each.place, 0, each.media)
  return list
}

const countIn = (text: string | null, otherwise: number): number =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : otherwise

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  }
  return btoa(text)
}
