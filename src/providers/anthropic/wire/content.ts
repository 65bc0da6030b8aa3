import type Anthropic from '@anthropic-ai/sdk'
import { base64ToBytes, standardBase64 } from '../../../core/base64.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { partsText } from '../../../model/wire/foreign-text.ts'
import { type ProviderKey, providerData } from '../../../model/wire/provider-data.ts'
import { asList, asObject, asText, jsonText } from '../../../model/wire/wire-value.ts'
import type { ContentPart, MediaPart, TextPart } from '../../../records/history-item.ts'
import { API, type Block, extrasOf } from './wire.ts'

type Image = Anthropic.Beta.BetaImageBlockParam
type Document = Anthropic.Beta.BetaRequestDocumentBlock
type ImageType = Anthropic.Beta.BetaBase64ImageSource['media_type']

const IMAGE_TYPES: ReadonlySet<string> = new Set<ImageType>([
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
])

/** Content of a message or of a result as neutral parts. */
export function decodeContent(content: JsonValue | undefined, key: ProviderKey): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return asList(content).flatMap((value) => {
    const block = asObject(value)
    return block === undefined ? [] : (decodePart(block, key) ?? [verbatim(block, key)])
  })
}

/** One block as a part; undefined when it has no neutral form. */
export function decodePart(block: Block, key: ProviderKey): ContentPart | undefined {
  switch (block['type']) {
    case 'text': {
      const text = asText(block['text']) ?? ''
      const extras = extrasOf(block, 'type', 'text', ...(block['citations'] ? [] : ['citations']))
      return { type: 'text', text, ...withData(extras, key) }
    }
    case 'image':
      return media('image', block, extrasOf(block, 'type', 'source'), key)
    case 'document':
      return document(block, key)
    case 'search_result':
      return verbatim(block, key)
    default:
      return undefined
  }
}

function document(block: Block, key: ProviderKey): ContentPart {
  const type = asText(asObject(block['source'])?.['type'])
  if (type === 'text' || type === 'content') return verbatim(block, key)
  return media('document', block, extrasOf(block, 'type', 'source', 'title'), key)
}

function media(
  kind: MediaPart['kind'],
  block: Block,
  extras: JsonObject | undefined,
  key: ProviderKey,
): MediaPart {
  const source = asObject(block['source'])
  const mimeType = asText(source?.['media_type'])
  const filename = asText(block['title'])
  return {
    type: 'media',
    kind,
    ...(mimeType !== undefined && { mimeType }),
    ...(filename !== undefined && { filename }),
    source: mediaSource(source),
    ...withData(extras, key),
  }
}

function mediaSource(source: JsonObject | undefined): MediaPart['source'] {
  if (source?.['type'] === 'url') return { type: 'url', url: asText(source['url']) ?? '' }
  if (source?.['type'] === 'file') return file(asText(source['file_id']) ?? '')
  return { type: 'base64', data: asText(source?.['data']) ?? '' }
}

function file(id: string): MediaPart['source'] {
  return { type: 'file', id, api: API }
}

/** A file that code left in its sandbox. */
export function filePart(id: string): MediaPart {
  return { type: 'media', kind: 'document', source: file(id) }
}

/** A block that this wire gets back as it was, and that others read as text. */
function verbatim(block: Block, key: ProviderKey): TextPart {
  return { type: 'text', text: readableText(block), providerData: providerData(key, block) }
}

/** The readable text of a block: its texts in order, or else the block itself. */
export function readableText(value: JsonValue, depth = 0): string {
  if (typeof value === 'string') return value
  // No block of this wire nests its texts deeper.
  if (depth > 4) return jsonText(value)
  if (Array.isArray(value)) {
    return asList(value)
      .map((part) => readableText(part, depth + 1))
      .join('\n')
  }
  const block = asObject(value)
  const source = asObject(block?.['source'])
  const text = block?.['text'] ?? source?.['data'] ?? source?.['content'] ?? block?.['content']
  if (text === undefined || text === null) return jsonText(value)
  const heading = asText(block?.['title'])
  const body = readableText(text, depth + 1)
  return heading === undefined ? body : `${heading}\n${body}`
}

function withData(data: JsonObject | undefined, key: ProviderKey): Pick<TextPart, 'providerData'> {
  return data === undefined ? {} : { providerData: providerData(key, data) }
}

/** A media part as a block; undefined where this wire cannot take it. */
export function encodeMedia(part: MediaPart): Image | Document | undefined {
  if (part.kind === 'image') return encodeImage(part)
  return part.kind === 'document' ? encodeDocument(part) : undefined
}

function encodeImage({ source, mimeType }: MediaPart): Image | undefined {
  if (source.type === 'url') return { type: 'image', source: { type: 'url', url: source.url } }
  if (source.type === 'file') {
    return source.api === API
      ? { type: 'image', source: { type: 'file', file_id: source.id } }
      : undefined
  }
  if (mimeType === undefined || !IMAGE_TYPES.has(mimeType)) return undefined
  const media_type = mimeType as ImageType
  return {
    type: 'image',
    source: { type: 'base64', media_type, data: standardBase64(source.data) },
  }
}

function encodeDocument({ source, mimeType, filename }: MediaPart): Document | undefined {
  const title = filename === undefined ? {} : { title: filename }
  if (source.type === 'url') {
    return { type: 'document', source: { type: 'url', url: source.url }, ...title }
  }
  if (source.type === 'file') {
    return source.api === API
      ? { type: 'document', source: { type: 'file', file_id: source.id }, ...title }
      : undefined
  }
  const data = standardBase64(source.data)
  if (mimeType === 'application/pdf') {
    return {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
      ...title,
    }
  }
  const text = mimeType?.startsWith('text/') ? decodeText(data) : undefined
  if (text === undefined || text === '') return undefined
  return {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: text },
    ...title,
  }
}

function decodeText(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(base64ToBytes(base64))
  } catch {
    return undefined
  }
}

/** What stands for a part that cannot be sent. */
export function namedMedia(part: MediaPart): string {
  return partsText([part])
}
