import type { ToolResultContentBlock } from '@aws-sdk/client-bedrock-runtime'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { EncodeContext } from '../../../model/wire/encode-groups.ts'
import { partsText } from '../../../model/wire/foreign-text.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { CallItem, ContentPart, MessageItem } from '../../../records/history-item.ts'
import { encodeMedia } from '../wire/media.ts'
import { API, type Block, type Tag, type Tagged, taggedOf } from '../wire/wire.ts'

type ResultTag = ToolResultContentBlock extends infer Union
  ? Union extends unknown
    ? Exclude<keyof Union, '$unknown'> & string
    : never
  : never

// Blocks that may be sent back as they came, by place. Elsewhere their text is sent.
const IN_RESULT: ReadonlySet<string> = new Set<ResultTag>([
  'document',
  'image',
  'json',
  'searchResult',
  'text',
  'video',
])
const IN_MESSAGE: Readonly<Record<MessageItem['role'], ReadonlySet<string>>> = {
  user: new Set<Tag>([
    'audio',
    'document',
    'guardContent',
    'image',
    'searchResult',
    'text',
    'video',
  ]),
  assistant: new Set<Tag>(['citationsContent', 'text']),
  system: new Set<Tag>(['guardContent', 'text', 'toolAddition', 'toolRemoval']),
}
/** The system prompt itself. */
const IN_SYSTEM: ReadonlySet<string> = new Set<Tag>(['guardContent', 'text'])

/** What the content of one request shares: its context, and the names that its documents have. */
export interface ContentContext extends Pick<EncodeContext, 'own' | 'leftOut'> {
  readonly nameOf: (filename: string | undefined) => string
}

/** The blocks of a message. Blank texts are refused and say nothing. */
export function encodeParts({ role, parts }: MessageItem, context: ContentContext): Block[] {
  return encodeAll(parts, context, IN_MESSAGE[role])
}

/** The blocks of the system prompt. */
export function encodeSystem({ parts }: MessageItem, context: ContentContext): Block[] {
  return encodeAll(parts, context, IN_SYSTEM)
}

/** The block that answers a call of the runner's. */
export function encodeResult(
  call: CallItem,
  context: EncodeContext & ContentContext,
): readonly Block[] {
  const { isError, parts, providerData } = context.resultOf(call)
  const own = asObject(context.own(providerData))
  const content = encodeAll(parts, context, IN_RESULT)
  // The wire refuses an error that says nothing.
  const told = isError && content.length === 0 ? [{ text: 'The tool failed.' }] : content
  const toolResult = {
    toolUseId: context.callId(call),
    content: told,
    ...(isError && { status: 'error' }),
    ...asObject(own?.['extras']),
  }
  return [{ toolResult }, ...pointIn(own)]
}

/** The cache point that stood after a block. */
export function pointIn(own: JsonObject | undefined): readonly Block[] {
  const point = asObject(own?.['cachePoint'])
  return point === undefined ? [] : [{ cachePoint: point }]
}

function encodeAll(
  parts: readonly ContentPart[],
  context: ContentContext,
  allowed: ReadonlySet<string>,
): Block[] {
  return parts.flatMap((part) => {
    const block = encodePart(part, context, allowed)
    if (isBlank(block)) return []
    // A result cannot hold cache points; one comes after it.
    const isResult = allowed === IN_RESULT
    return isResult ? [block] : [block, ...pointIn(asObject(context.own(part.providerData)))]
  })
}

/** The wire refuses texts without a letter, also within citations. */
function isBlank(block: Block): boolean {
  const { tag, body } = taggedOf(block) ?? {}
  return tag === 'text' && !asText(body)?.trim()
}

function encodePart(
  part: ContentPart,
  context: ContentContext,
  allowed: ReadonlySet<string>,
): Block {
  const own = asObject(context.own(part.providerData))
  if (part.type === 'text') {
    const tagged = taggedOf(own?.['block'])
    const isSent = tagged !== undefined && allowed.has(tagged.tag)
    if (!isSent || !isSendable(tagged.tag, tagged.body)) return { text: part.text }
    return { [tagged.tag]: named(tagged, context) }
  }
  const block = allowed.has(part.kind) ? encodeMedia(part, own, context.nameOf) : undefined
  if (block !== undefined) return block
  context.leftOut('media', `\`${API}\` cannot take this media here; it is named in its place.`)
  return { text: partsText([part]) }
}

/** What a block holds. A document that is text has a name too. */
function named({ tag, body }: Tagged, { nameOf }: ContentContext): JsonValue {
  const document = tag === 'document' ? asObject(body) : undefined
  return document === undefined ? body : { ...document, name: nameOf(asText(document['name'])) }
}

/** The form that a block must have to be taken back. */
function isSendable(tag: string, body: unknown): boolean {
  const object = asObject(body)
  if (object === undefined) return tag === 'json'
  if (tag === 'citationsContent') {
    const content = object['content']
    return (
      Array.isArray(content) &&
      content.length > 0 &&
      content.every((part) => asText(asObject(part)?.['text'])?.trim())
    )
  }
  if (tag === 'toolAddition' || tag === 'toolRemoval') {
    return Boolean(asText(asObject(object['tool'])?.['name']))
  }
  return true
}
