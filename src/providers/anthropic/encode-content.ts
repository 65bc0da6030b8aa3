import type Anthropic from '@anthropic-ai/sdk'
import type { EncodeContext } from '../../model/encoder.ts'
import type { CallItem, ContentPart, MediaPart, MessageItem } from '../../records/history-item.ts'
import { encodeMedia, namedMedia } from './content.ts'
import { API, asObject, asText, type BlockParam, type TextParam } from './wire.ts'

type Result = Anthropic.Beta.BetaToolResultBlockParam
type ResultContent = Exclude<NonNullable<Result['content']>, string>[number]

const RESULT_CONTENT: ReadonlySet<string> = new Set<ResultContent['type']>([
  'browser_state',
  'document',
  'image',
  'search_result',
  'text',
  'tool_reference',
])

/** The blocks of a message. Blank texts are refused and say nothing. */
export function encodeParts(item: MessageItem, context: EncodeContext): BlockParam[] {
  return item.parts.flatMap((part) => {
    // What the assistant made itself is named: only a person's side may hold media.
    const block =
      part.type === 'text' || item.role === 'user'
        ? encodePart(part, context)
        : named(part, context)
    return isBlank(block) ? [] : [block]
  })
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
  const blocks = parts.map((part) => encodePart(part, context)).filter((block) => !isBlank(block))
  const [first] = blocks
  if (first === undefined) return undefined
  if (blocks.length === 1 && first.type === 'text' && Object.keys(first).length === 2) {
    return first.text
  }
  return blocks.filter((block) => RESULT_CONTENT.has(block.type)) as ResultContent[]
}

function encodePart(part: ContentPart, context: EncodeContext): BlockParam {
  const own = asObject(context.own(part.providerData))
  // A block that says more than its text was kept whole.
  if (own?.['type'] !== undefined) return own as unknown as BlockParam
  if (part.type === 'text') return { type: 'text', text: part.text, ...own }
  const block = encodeMedia(part)
  return block === undefined ? named(part, context) : { ...block, ...own }
}

function named(part: MediaPart, context: EncodeContext): TextParam {
  context.leftOut('media', `\`${API}\` cannot take this media; it is named in its place.`)
  return { type: 'text', text: namedMedia(part) }
}

function isBlank(block: BlockParam): boolean {
  return block.type === 'text' && block.text.trim() === ''
}
