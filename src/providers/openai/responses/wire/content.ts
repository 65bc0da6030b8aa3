import type {
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputText,
} from 'openai/resources/responses/responses'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import type { ContentPart, MediaPart } from '../../../../records/history-item.ts'
import { mediaAt, urlOf } from '../../media-url.ts'
import { asItem } from './wire.ts'

/** Content of a message or of an output as neutral parts. Parts without a neutral form stay in the raw data. */
export function decodeContent(content: JsonValue | undefined, api: string): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asList(content).flatMap((value) => decodePart(value, api))
}

function decodePart(value: JsonValue, api: string): ContentPart[] {
  const part = asObject(value)
  const text = asText(part?.['text']) ?? asText(part?.['refusal'])
  if (text !== undefined) return [{ type: 'text', text }]
  switch (part?.['type']) {
    case 'input_image':
    case 'computer_screenshot':
      return [media('image', asText(part['image_url']), asText(part['file_id']), part, api)]
    case 'input_file': {
      const url = asText(part['file_data']) ?? asText(part['file_url'])
      return [media('document', url, asText(part['file_id']), part, api)]
    }
    default:
      return []
  }
}

function media(
  kind: MediaPart['kind'],
  url: string | undefined,
  fileId: string | undefined,
  part: JsonObject,
  api: string,
): MediaPart {
  const filename = asText(part['filename'])
  const named = { type: 'media', kind, ...(filename !== undefined && { filename }) } as const
  if (url === undefined) return { ...named, source: { type: 'file', id: fileId ?? '', api } }
  return { ...named, ...mediaAt(kind, url) }
}

/** Base64 without data URL, as generated images come. */
export function generatedImage(data: string, format: string | undefined): MediaPart {
  const mimeType = `image/${format ?? 'png'}`
  return { type: 'media', kind: 'image', mimeType, source: { type: 'base64', data } }
}

/** A part of input content, in the SDK's own words. */
export type InputPart = (ResponseInputText | ResponseInputImage | ResponseInputFile) & JsonObject

/** Neutral parts as input content; undefined where this wire cannot take a part. */
export function encodePart(part: ContentPart, api: string): InputPart | undefined {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  const { source } = part
  if (source.type === 'file' && source.api !== api) return undefined
  if (part.kind === 'image') {
    const detail = 'auto'
    if (source.type === 'file') return { type: 'input_image', file_id: source.id, detail }
    return { type: 'input_image', image_url: urlOf(part), detail }
  }
  if (part.kind !== 'document') return undefined
  if (source.type === 'file') return { type: 'input_file', file_id: source.id }
  const filename = part.filename ?? 'document'
  return source.type === 'url'
    ? { type: 'input_file', file_url: source.url }
    : { type: 'input_file', filename, file_data: urlOf(part) }
}

/** The readable part of a reasoning item: its content where it has any, else its summary. */
export function reasoningText(value: JsonValue): string {
  const item = asItem(value)
  const texts = (parts: JsonValue | undefined) =>
    asList(parts).flatMap((part) => asText(asObject(part)?.['text']) ?? [])
  const content = texts(item?.['content'])
  return (content.length > 0 ? content : texts(item?.['summary'])).join('\n')
}
