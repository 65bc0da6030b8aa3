import type {
  ChatCompletionContentPart,
  ChatCompletionContentPartText,
} from 'openai/resources/chat/completions'
import { standardBase64 } from '../../../../core/base64.ts'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import type { ContentPart } from '../../../../records/history-item.ts'
import { mediaAt, urlOf } from '../../media-url.ts'

const AUDIO_FORMATS = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
] as const)

/** Content as neutral parts; reasoning that some servers put between them is read apart. */
export function decodeContent(content: JsonValue | undefined, api: string): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return asList(content).flatMap((value) => decodePart(value, api))
}

function decodePart(value: JsonValue, api: string): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  const part = asObject(value)
  const text = asText(part?.['text']) ?? asText(part?.['refusal'])
  if (text !== undefined) return [{ type: 'text', text }]
  const image = part?.['image_url']
  const url = asText(asObject(image)?.['url']) ?? asText(image)
  if (url !== undefined) return [mediaAt('image', url)]
  const audio = asObject(part?.['input_audio'])
  const sound = asText(audio?.['data'])
  if (sound !== undefined) {
    const mimeType = `audio/${asText(audio?.['format']) ?? 'wav'}`
    return [{ type: 'media', kind: 'audio', mimeType, source: { type: 'base64', data: sound } }]
  }
  const file = asObject(part?.['file'])
  if (file === undefined) return []
  const filename = asText(file['filename'])
  const named = filename === undefined ? {} : { filename }
  const data = asText(file['file_data'])
  if (data !== undefined) return [{ ...mediaAt('document', data), ...named }]
  const id = asText(file['file_id'])
  if (id === undefined) return []
  return [{ type: 'media', kind: 'document', ...named, source: { type: 'file', id, api } }]
}

/** A part of a user's message, in the SDK's own words. */
export type UserPart = ChatCompletionContentPart & JsonObject

/** A neutral part as a user may send it; undefined where this wire cannot take it. */
export function encodePart(part: ContentPart, api: string): UserPart | undefined {
  if (part.type === 'text') return textPart(part.text)
  const { kind, source, filename, mimeType = '' } = part
  if (kind === 'image' && source.type !== 'file') {
    return { type: 'image_url', image_url: { url: urlOf(part) } }
  }
  if (kind === 'audio' && source.type === 'base64') {
    const format = AUDIO_FORMATS.get(mimeType as never)
    if (format === undefined) return undefined
    return { type: 'input_audio', input_audio: { data: standardBase64(source.data), format } }
  }
  if (kind !== 'document') return undefined
  if (source.type === 'base64') {
    return { type: 'file', file: { filename: filename ?? 'document', file_data: urlOf(part) } }
  }
  if (source.type === 'file' && source.api === api) {
    return { type: 'file', file: { file_id: source.id } }
  }
  return undefined
}

export function textPart(text: string): ChatCompletionContentPartText & JsonObject {
  return { type: 'text', text }
}
