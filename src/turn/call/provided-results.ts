import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { base64ToBytes, standardBase64 } from '../../core/base64.ts'
import type { CallResult, ContentPart, MediaPart } from '../../records/history-item.ts'
import type { PlacedMedia } from '../../records/placed-media.ts'
import type { ToolCallResults } from '../../records/tool-call-results.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import type { CallOutput } from './output.ts'

interface ProvidedResults {
  readonly results: ToolCallResults
  readonly media?: readonly PlacedMedia[]
}

/**
 * The results of a call that a provider ran. Media whose bytes the provider sent are `Media`; beside text they keep their
 * places. Media that it only refers to are named in the text.
 */
export async function providedResults(
  { parts }: CallResult,
  spool: CallOutput,
): Promise<ProvidedResults> {
  const media: PlacedMedia[] = []
  const texts: string[] = []
  for (const [place, part] of parts.entries()) {
    const own = part.type === 'media' ? mediaOf(part) : undefined
    if (own === undefined) texts.push(textOf(part))
    else media.push({ place, media: await own.spooled(spool) })
  }
  const write = async (text: string) => new SpooledArtifact(await spool.write(text))
  if (media.length === 0) return { results: await write(texts.join('\n')) }
  const [first, ...rest] = media.map((one) => one.media)
  if (texts.length === 0 && first) return { results: rest.length === 0 ? first : [first, ...rest] }
  const artifacts = await Promise.all(texts.map(write))
  const [only, ...others] = artifacts
  return { results: only && others.length === 0 ? only : artifacts, media }
}

function textOf(part: ContentPart): string {
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

/** The media of a part; undefined if the part has no bytes that can be read. */
function mediaOf({ kind, mimeType = '', filename, source }: MediaPart): Media | undefined {
  const bytes = source.type === 'base64' ? bytesOf(source.data) : undefined
  if (bytes === undefined || bytes.length === 0) return undefined
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : USUAL[kind]
  return new Media({
    kind,
    mimeType: type,
    filename: filename || `${kind}.${type.slice(type.indexOf('/') + 1)}`,
    // A stranger's code or page may have made it, and a model reads what is written in it.
    trustTier: 'third-party',
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
