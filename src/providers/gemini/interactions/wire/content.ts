import type { Interactions } from '@google/genai'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asList, asObject, asText, asWord, jsonText } from '../../../../model/wire/wire-value.ts'
import type { ContentPart, MediaPart } from '../../../../records/history-item.ts'
import { mimeTypeOf } from '../../wire/content.ts'
import { API, inSnakeCase } from './wire.ts'

const KINDS = new Set<unknown>(['image', 'audio', 'video', 'document'])

/** True for bare content, which stands for what a person said. */
export function isContent(value: JsonValue): boolean {
  if (typeof value === 'string') return true
  const type = asObject(value)?.['type']
  return type === 'text' || KINDS.has(type)
}

// Files that only this provider can open; any other address means the same to everyone.
const OWN_FILE = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//

/** Content of a step as neutral parts. Blocks without a neutral form stay in the step, which goes back whole. */
export function decodeContent(content: JsonValue | undefined): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const blocks = Array.isArray(content) ? asList(content) : content ? [content] : []
  return blocks.flatMap((value): ContentPart | ContentPart[] => {
    if (typeof value === 'string') return { type: 'text', text: value }
    const block = asObject(value)
    return block === undefined ? [] : (decodeBlock(inSnakeCase(block)) ?? [])
  })
}

function decodeBlock(block: JsonObject): ContentPart | undefined {
  const { type } = block
  if (type === 'text' || type === undefined) {
    const text = asText(block['text'])
    return text === undefined ? undefined : { type: 'text', text }
  }
  if (!KINDS.has(type)) return undefined
  const mimeType = asWord(block['mime_type'])
  const filename = asWord(block['name'])
  return {
    type: 'media',
    kind: type as MediaPart['kind'],
    ...(mimeType !== undefined && { mimeType }),
    ...(filename !== undefined && { filename }),
    source: sourceOf(block),
  }
}

function sourceOf(block: JsonObject): MediaPart['source'] {
  const uri = asWord(block['uri'])
  if (uri === undefined)
    return { type: 'base64', data: standardBase64(asText(block['data']) ?? '') }
  return OWN_FILE.test(uri) ? { type: 'file', id: uri, api: API } : { type: 'url', url: uri }
}

/** This wire also writes base64 for URLs, which no other takes. */
function standardBase64(data: string): string {
  if (!/[-_]/.test(data)) return data
  const standard = data.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}

/** The result of a function or a tool: text, content, or a structure that is shown as JSON. */
export function decodeResult(result: JsonValue | undefined): ContentPart[] {
  if (result === undefined || result === null) return []
  if (typeof result === 'string') return [{ type: 'text', text: result }]
  const areBlocks = Array.isArray(result) && result.length > 0 && result.every(isBlock)
  return areBlocks ? decodeContent(result) : [{ type: 'text', text: jsonText(result) }]
}

function isBlock(value: unknown): boolean {
  const block = asObject(value)
  const isText = block?.['type'] === 'text' && typeof block['text'] === 'string'
  return isText || KINDS.has(block?.['type'])
}

/** A part as a block of content; undefined for files that another provider keeps, and for an empty text. */
export function encodePart(part: ContentPart): Interactions.Content | undefined {
  if (part.type === 'text') return part.text === '' ? undefined : { type: 'text', text: part.text }
  const { kind: type, source, mimeType } = part
  if (source.type === 'base64') return { type, data: source.data, mime_type: mimeTypeOf(part) }
  if (source.type === 'file' && source.api !== API) return undefined
  const uri = source.type === 'file' ? source.id : source.url
  return { type, uri, ...(mimeType !== undefined && { mime_type: mimeType }) }
}

/** The readable part of a thought: its summary, where it was asked for. */
export function thoughtText(summary: JsonValue | undefined): string {
  return decodeContent(summary)
    .flatMap((part) => (part.type === 'text' ? part.text : []))
    .join('\n')
}

const CITATIONS = new Set<unknown>(['url_citation', 'place_citation', 'file_citation'])

/** True when the content names pages, places or files that it was taken from. */
export function isCited(content: JsonValue | undefined): boolean {
  return asList(content).some((block) =>
    asList(asObject(block)?.['annotations']).some((annotation) =>
      CITATIONS.has(asObject(annotation)?.['type']),
    ),
  )
}
