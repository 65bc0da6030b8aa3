import type { Part } from '@google/genai'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { type ProviderKey, providerData } from '../../../model/wire/provider-data.ts'
import { asObject, asText, asWord, without } from '../../../model/wire/wire-value.ts'
import type { ContentPart, MediaPart } from '../../../records/history-item.ts'
import { partsOf } from './spelling.ts'
import { API, type WirePart } from './wire.ts'

// Files that only this provider can open; any other address means the same to everyone.
const OWN_FILE = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//

/** Parts of a person's or the operator's content, one for one. */
export function decodeParts(value: JsonValue | undefined, key: ProviderKey): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  const content = asObject(value)
  const parts =
    content?.['parts'] === undefined ? partsOf({ parts: value ?? null }) : partsOf(content)
  return parts.flatMap((part): ContentPart | ContentPart[] => {
    if (typeof part === 'string') return { type: 'text', text: part }
    return decodePart(asObject(part) ?? {}, key) ?? []
  })
}

/** Text or media in its neutral form, with whatever else its part says; undefined for other parts. */
export function decodePart(part: WirePart, key: ProviderKey): ContentPart | undefined {
  const blob = asObject(part.inlineData)
  const file = asObject(part.fileData)
  const text = asText(part.text)
  if (blob !== undefined) {
    const source = { type: 'base64', data: asText(blob['data']) ?? '' } as const
    const extras = without(part, 'inlineData')
    return { ...mediaOf(blob), source, providerData: providerData(key, extras) }
  }
  if (file !== undefined) {
    const uri = asText(file['fileUri']) ?? ''
    const source = OWN_FILE.test(uri)
      ? ({ type: 'file', id: uri, api: API } as const)
      : ({ type: 'url', url: uri } as const)
    const extras = without(part, 'fileData')
    return { ...mediaOf(file), source, providerData: providerData(key, extras) }
  }
  if (text === undefined) return undefined
  const extras = without(part, 'text')
  if (Object.keys(extras).length === 0) return { type: 'text', text }
  return { type: 'text', text, providerData: providerData(key, extras) }
}

function mediaOf(holder: JsonObject): Omit<MediaPart, 'source'> {
  const mimeType = asWord(holder['mimeType'])
  const filename = asWord(holder['displayName'])
  return {
    type: 'media',
    kind: kindOfMime(mimeType),
    ...(mimeType !== undefined && { mimeType }),
    ...(filename !== undefined && { filename }),
  }
}

function kindOfMime(mimeType = ''): MediaPart['kind'] {
  const [family] = mimeType.split('/')
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
}

const USUAL_TYPE: Readonly<Record<MediaPart['kind'], string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  document: 'application/pdf',
}

/** The type of media that did not say its own: the wire takes no bytes without one. */
export function mimeTypeOf({ mimeType, kind }: MediaPart): string {
  return mimeType ?? USUAL_TYPE[kind]
}

/** Media as a part of a content; undefined for files that another provider keeps. */
export function encodeMedia(part: MediaPart, isOwn: boolean): Part | undefined {
  const { source, filename } = part
  // Not every backend knows a name here, so only one that came from this wire is sent.
  const named = isOwn && filename !== undefined ? { displayName: filename } : {}
  if (source.type === 'base64') {
    return { inlineData: { mimeType: mimeTypeOf(part), data: source.data, ...named } }
  }
  if (source.type === 'file' && source.api !== API) return undefined
  const fileUri = source.type === 'file' ? source.id : source.url
  const { mimeType } = part
  return { fileData: { fileUri, ...(mimeType !== undefined && { mimeType }), ...named } }
}
