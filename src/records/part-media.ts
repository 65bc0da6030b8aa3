import { base64ToBytes, standardBase64 } from '../core/base64.ts'
import type { TrustTier } from '../core/trust.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import type { ContentPart, MediaPart } from './history-item.ts'

/** A part as text. Media are named. */
export function partText(part: ContentPart): string {
  if (part.type === 'text') return part.text
  const { kind, source } = part
  if (source.type === 'base64') return `[${kind}]`
  return `[${kind} ${source.type === 'url' ? source.url : source.id}]`
}

const USUAL: Readonly<Record<MediaPart['kind'], string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  document: 'application/octet-stream',
}

/** The media of a part; undefined if the part has no bytes that can be read. A stranger made it unless the caller knows better. */
export function partMedia(
  { kind, mimeType = '', filename, source }: MediaPart,
  trustTier: TrustTier = 'third-party',
): Media | undefined {
  const bytes = source.type === 'base64' ? bytesOf(source.data) : undefined
  if (bytes === undefined || bytes.length === 0) return undefined
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : USUAL[kind]
  return new Media({
    kind,
    mimeType: type,
    filename: filename || `${kind}.${type.slice(type.indexOf('/') + 1)}`,
    trustTier,
    // A model reads what is written in it.
    modalityHazard:
      kind === 'image' || kind === 'document' ? 'extractable-instructions' : 'opaque-perceptual',
    reader: bytesMedia(bytes),
  })
}

/** The bytes of base64, in its URL-safe form too. */
function bytesOf(data: string): Uint8Array | undefined {
  try {
    return base64ToBytes(standardBase64(data))
  } catch {
    return undefined
  }
}
