import { bytesToBase64 } from '../core/base64.ts'
import { concatBytes } from '../core/concat-bytes.ts'
import { cutText } from '../core/error/cut-text.ts'
import { isBobbinError } from '../core/error/error.ts'
import type { MediaPart, TextPart } from '../records/history-item.ts'
import type { Media } from '../spool/media.ts'

/** A part of a rendered result: text in its envelope, or media whose bytes are still to be read. */
export type RenderedPart = TextPart | { readonly type: 'media'; readonly media: Media }

/** Bytes of one media that a prompt carries at most. */
export const MEDIA_LIMIT = 20_000_000

/** How stored content is read. An application's own spool may fail or hang. */
export interface Reading {
  /** Receives errors of reading. Without it, an error that is not a `BobbinError` is thrown. */
  onFault?(error: unknown): void
  /** Waits for the work at most as long as its turn lasts. */
  untilOver?<T>(work: Promise<T>, otherwise: () => T): Promise<T>
}

const loaded = new WeakMap<Media, Promise<MediaPart | TextPart>>()

/** Reads the media of rendered parts, so that they can be encoded; each media is read once. */
export async function loadParts(
  parts: readonly RenderedPart[],
  limit = MEDIA_LIMIT,
  reading: Reading = {},
): Promise<readonly (TextPart | MediaPart)[]> {
  const content: (TextPart | MediaPart)[] = []
  for (const part of parts) {
    content.push(part.type === 'text' ? part : await loadOrTell(part.media, limit, reading))
  }
  return content
}

/** Bytes that are gone, or out of reach for now, must not keep the rest of a conversation from a model. */
async function loadOrTell(
  media: Media,
  limit: number,
  reading: Reading,
): Promise<MediaPart | TextPart> {
  const tell = (why: string): TextPart => ({ type: 'text', text: `[This ${media.kind} ${why}]` })
  try {
    const loading = loadOnce(media, limit)
    return await (reading.untilOver?.(loading, () => tell(NOT_READ)) ?? loading)
  } catch (error) {
    return tell(unreadText(error, reading))
  }
}

/** Stands for stored content that took longer to read than its turn lasted. */
export const NOT_READ = 'is stored and was not read before the turn ended.'

/** The note for a model about stored content that cannot be read. It does not quote errors of an application's spool. */
export function unreadText(error: unknown, { onFault }: Reading): string {
  const isOurs = isBobbinError(error)
  if (!isOurs && onFault === undefined) throw error
  onFault?.(error)
  return `is stored but cannot be read now${isOurs ? ` (${error.code})` : ''}.`
}

function loadOnce(media: Media, limit: number): Promise<MediaPart | TextPart> {
  const known = loaded.get(media)
  if (known !== undefined) return known
  const part = load(media, limit)
  loaded.set(media, part)
  part.catch(() => loaded.delete(media))
  return part
}

async function load(media: Media, limit: number): Promise<MediaPart | TextPart> {
  const pieces: string[] = []
  let rest = new Uint8Array()
  let total = 0
  for await (const chunk of media.stream()) {
    total += chunk.length
    if (total > limit) {
      return {
        type: 'text',
        text: `[This ${media.kind} is left out: it has more than ${limit} bytes.]`,
      }
    }
    const bytes = rest.length === 0 ? chunk : concatBytes([rest, chunk])
    const whole = bytes.length - (bytes.length % 3)
    pieces.push(bytesToBase64(bytes.subarray(0, whole)))
    // A copy, which `slice` of a Node buffer is not.
    rest = new Uint8Array(bytes.subarray(whole))
  }
  pieces.push(bytesToBase64(rest))
  return {
    type: 'media',
    kind: media.kind,
    mimeType: media.mimeType,
    filename: wireFilename(media.filename),
    source: { type: 'base64', data: pieces.join('') },
  }
}

/** Providers show file names to the model outside of any envelope. */
function wireFilename(name: string): string {
  return cutText(name.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_'), 128)
}
