import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { type ProviderKey, providerData } from '../../../model/wire/provider-data.ts'
import { asList, asObject, asText, jsonText } from '../../../model/wire/wire-value.ts'
import type { ContentPart, TextPart } from '../../../records/history-item.ts'
import { decodeMedia, isMedia } from './media.ts'
import { asJson, bytesText, type Tagged, taggedOf } from './wire.ts'

/** A block with the cache point right after it, if there is one. */
export interface Marked {
  readonly tagged: Tagged | undefined
  /** The value as it came. */
  readonly value: JsonValue
  readonly mark: JsonObject | undefined
}

/** The blocks of a list. A cache point belongs to the block before it; the first of a list stands alone. */
export function markedBlocks(content: unknown): readonly Marked[] {
  const blocks: Marked[] = []
  for (const value of asList(content)) {
    const tagged = taggedOf(value)
    const last = blocks.at(-1)
    const point = tagged?.tag === 'cachePoint' ? asObject(tagged.body) : undefined
    if (point !== undefined && last !== undefined && last.mark === undefined) {
      blocks[blocks.length - 1] = { ...last, mark: asJson(point) as JsonObject }
    } else {
      blocks.push({ tagged, value, mark: undefined })
    }
  }
  return blocks
}

/** The content of a result or of the system prompt as neutral parts. */
export function decodeContent(content: unknown, key: ProviderKey): ContentPart[] {
  return markedBlocks(content).flatMap((block) => {
    if (block.tagged === undefined) return []
    return decodePart(block, key) ?? verbatim(block.tagged, block.mark, key, undefined)
  })
}

/** One block as a part; undefined when it has no neutral form. */
export function decodePart({ tagged, mark }: Marked, key: ProviderKey): ContentPart | undefined {
  if (tagged === undefined) return undefined
  const { tag, body } = tagged
  if (tag === 'text') return textPart(asText(body) ?? '', mark, key)
  const object = asObject(body)
  if (isMedia(tag) && object !== undefined && !isWritten(tag, object)) {
    return decodeMedia(tag, object, key, mark)
  }
  const reader = Object.hasOwn(READERS, tag) ? READERS[tag] : undefined
  return reader && verbatim(tagged, mark, key, reader(body))
}

/** A document that is text already. */
function isWritten(tag: string, body: JsonObject): boolean {
  const source = asObject(body['source'])
  return tag === 'document' && (source?.['text'] ?? source?.['content'] ?? null) !== null
}

function textPart(text: string, mark: JsonObject | undefined, key: ProviderKey): TextPart {
  const data = mark && { providerData: providerData(key, { cachePoint: mark }) }
  return { type: 'text', text, ...data }
}

/** A block that this wire gets back as it was, and that others read as text. */
function verbatim(
  { tag, body }: Tagged,
  mark: JsonObject | undefined,
  key: ProviderKey,
  text: string | undefined,
): TextPart {
  const json = asJson(body)
  const data = { block: { [tag]: json }, ...(mark && { cachePoint: mark }) }
  return { type: 'text', text: text ?? jsonText(json), providerData: providerData(key, data) }
}

/** How others read the blocks that this wire gets back. */
const READERS: Readonly<Record<string, (body: JsonValue) => string>> = {
  citationsContent: (body) => textsIn(asObject(body)?.['content']),
  document: (body) => {
    const source = asObject(asObject(body)?.['source'])
    return asText(source?.['text']) ?? textsIn(source?.['content'])
  },
  guardContent: (body) => {
    const guarded = asObject(body)
    return asText(asObject(guarded?.['text'])?.['text']) ?? '[guarded image]'
  },
  json: (body) => jsonText(asJson(body)),
  searchResult: (body) => {
    const found = asObject(body)
    const lines = [asText(found?.['title']), asText(found?.['source']), textsIn(found?.['content'])]
    return lines.filter(Boolean).join('\n')
  },
  toolAddition: (body) => `From here on the tool \`${toolIn(body)}\` is available.`,
  toolRemoval: (body) => `From here on the tool \`${toolIn(body)}\` is not available.`,
}

const textsIn = (value: JsonValue | undefined) =>
  asList(value)
    .flatMap((part) => asText(asObject(part)?.['text']) ?? [])
    .join('\n')

const toolIn = (body: JsonValue) => asText(asObject(asObject(body)?.['tool'])?.['name']) ?? ''

/** What reasoning is kept as: `type` says which of its two forms it has. */
export function decodeReasoning(
  body: JsonValue,
): { readonly text: string; readonly data: JsonObject } | undefined {
  const reasoning = asObject(body)
  const redacted = bytesText(reasoning?.['redactedContent'])
  if (redacted !== undefined)
    return { text: '', data: { type: 'redacted_thinking', data: redacted } }
  const told = asObject(reasoning?.['reasoningText'])
  if (told === undefined) return undefined
  const signature = asText(told['signature'])
  const data = { type: 'thinking', ...(signature !== undefined && { signature }) }
  return { text: asText(told['text']) ?? '', data }
}
