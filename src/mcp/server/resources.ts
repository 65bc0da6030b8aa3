import { ToolCall } from '../../records/tool-call.ts'
import { isArtifact } from '../../spool/artifact.ts'
import { Media } from '../../spool/media.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { restoreFrom } from '../../store/feed/follow.ts'
import type { RunnerStore } from '../../store/store.ts'

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

/** The contents of a result, or of a part of it by bytes. Undefined if there is no such result. */
export async function readResult(place: ResultPlace, uri: string) {
  const result = await resultAt(place, uri)
  if (result === undefined) return undefined
  const range = new URLSearchParams(uri.split('?')[1])
  const start = countIn(range.get('start'), 0)
  const end = Math.min(countIn(range.get('end'), Number.MAX_SAFE_INTEGER), start + MAX_BYTES)
  if (Media.isMedia(result)) {
    const blob = base64(await bytesOf(result, start, end))
    return { uri, mimeType: result.mimeType, blob }
  }
  if (!isArtifact(result)) return undefined
  // The reader is meant for subclasses; reading a range is the other use.
  const { reader } = result as unknown as { readonly reader: RangeReader }
  const bytes = await reader.read(start, end)
  const more = start + bytes.length < result.byteLength()
  const next = `${uri.split('?')[0]}?start=${start + bytes.length}`
  const size = { 'bobbin-adk/size': result.byteLength(), ...(more && { 'bobbin-adk/next': next }) }
  const mimeType = result.kind === 'json' ? 'application/json' : 'text/plain'
  return { uri, mimeType, text: new TextDecoder().decode(bytes), _meta: size }
}

interface RangeReader {
  read(start: number, end: number): Promise<Uint8Array>
}

/** The result at an address, even from before a restart. Undefined if the address has no result. */
export async function resultAt({ store, spool }: ResultPlace, uri: string): Promise<unknown> {
  const [, conversation = '', call = '', index = ''] = PATTERN.exec(uri) ?? []
  const known = conversation === '' ? undefined : await store.conversation(conversation)
  const entry = known && (await store.get(conversation, 'settlement', call))
  if (entry === undefined) return undefined
  return resultsOf(ToolCall.fromJSON(entry.data, restoreFrom(store, spool)))[Number(index)]
}

/** The results of a call in their order, media in their places. */
export function resultsOf({ results, media = [] }: ToolCall): readonly unknown[] {
  const list: unknown[] = Array.isArray(results) ? [...(results as unknown[])] : [results]
  for (const each of media) list.splice(each.place, 0, each.media)
  return list
}

const countIn = (text: string | null, otherwise: number): number =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : otherwise

async function bytesOf(media: Media, start: number, end: number): Promise<Uint8Array> {
  const pieces: number[] = []
  let at = 0
  for await (const chunk of media.stream()) {
    for (const byte of chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))) {
      pieces.push(byte)
    }
    at += chunk.length
    if (at >= end) break
  }
  return Uint8Array.from(pieces)
}

/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  }
  return btoa(text)
}
