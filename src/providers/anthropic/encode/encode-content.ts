import type Anthropic from '@anthropic-ai/sdk'
import type { EncodeContext } from '../../../model/wire/encode-groups.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import type { CallItem, ContentPart, MessageItem } from '../../../records/history-item.ts'
import { encodeMedia, namedMedia } from '../wire/content.ts'
import { isOnlyInMessages } from '../wire/server-tools.ts'
import { API, type BlockParam } from '../wire/wire.ts'

type Result = Anthropic.Beta.BetaToolResultBlockParam
type ResultContent = Exclude<NonNullable<Result['content']>, string>[number]

// Blocks that may be sent back as they came, by place. Elsewhere their text is sent.
const IN_RESULT: ReadonlySet<string> = new Set<ResultContent['type']>([
  'browser_state',
  'document',
  'image',
  'search_result',
  'text',
  'tool_reference',
])
const IN_MESSAGE: Readonly<Record<MessageItem['role'], ReadonlySet<string>>> = {
  user: new Set(['document', 'image', 'search_result', 'text']),
  assistant: new Set(['text']),
  system: new Set(['text']),
}
/** Content that has its own place in a request and must not be sent elsewhere. */
const PLACED: ReadonlySet<string> = new Set([...IN_RESULT, ...IN_MESSAGE.user])

/** The blocks of a message. Blank texts are refused and say nothing. */
export function encodeParts(item: MessageItem, context: EncodeContext): BlockParam[] {
  const { role, parts } = item
  const blocks = encodeAll(parts, context, IN_MESSAGE[role])
  return role === 'user' ? blocks.map(withoutCitations) : blocks
}

/** API version 2026-10-21 refuses citations in what a person says, which older versions took. */
function withoutCitations(block: BlockParam): BlockParam {
  if (block.type === 'text') {
    const { citations, ...rest } = block
    return citations?.length ? rest : block
  }
  if (block.type !== 'search_result' || !Array.isArray(block.content)) return block
  return { ...block, content: block.content.map((text) => withoutCitations(text) as typeof text) }
}

/** The block that answers a call of the runner's. */
export function encodeResult(call: CallItem, context: EncodeContext): Result {
  const { isError, parts, providerData } = context.resultOf(call)
  const own = asObject(context.own(providerData))
  const toolset = asText(asObject(context.own(call.providerData))?.['toolset_name'])
  const content = resultContent(parts, context)
  return {
    type: 'tool_result',
    tool_use_id: context.callId(call),
    ...(content !== undefined && { content }),
    ...(isError && { is_error: true }),
    ...(toolset !== undefined && { toolset_name: toolset }),
    ...own,
  }
}

function resultContent(
  parts: readonly ContentPart[],
  context: EncodeContext,
): string | ResultContent[] | undefined {
  const blocks = encodeAll(parts, context, IN_RESULT)
  const [first] = blocks
  if (first === undefined) return undefined
  if (blocks.length === 1 && first.type === 'text' && Object.keys(first).length === 2) {
    return first.text
  }
  return blocks as ResultContent[]
}

function encodeAll(
  parts: readonly ContentPart[],
  context: EncodeContext,
  allowed: ReadonlySet<string>,
): BlockParam[] {
  return parts
    .map((part) => encodePart(part, context, allowed))
    .filter((block) => block.type !== 'text' || block.text.trim() !== '')
}

function encodePart(
  part: ContentPart,
  context: EncodeContext,
  allowed: ReadonlySet<string>,
): BlockParam {
  const own = asObject(context.own(part.providerData))
  const type = asText(own?.['type'])
  // A block that says more than its text was kept whole.
  if (own?.['type'] !== undefined && type !== 'text') {
    const isNew = type && !PLACED.has(type) && !isOnlyInMessages(type)
    if (type && (isNew || allowed.has(type))) return own as unknown as BlockParam
    return { type: 'text', text: part.type === 'text' ? part.text : namedMedia(part) }
  }
  if (part.type === 'text') return { type: 'text', text: part.text, ...own }
  const block = encodeMedia(part)
  if (block !== undefined && allowed.has(block.type)) return { ...block, ...own }
  // What the assistant made itself is named, too: only a person's side may hold media.
  context.leftOut('media', `\`${API}\` cannot take this media here; it is named in its place.`)
  return { type: 'text', text: namedMedia(part) }
}
