import type { ProviderData } from '../core/wire-reference.ts'
import type { ToolDefinition } from '../model/tool-definition.ts'
import type { ContentPart, HistoryItem, MediaPart } from '../records/history-item.ts'
import { countTokens, roughTokens, type TokenCount } from '../text/token-count.ts'

/** Counts one text. */
export type CountText = (text: string) => Promise<TokenCount>

/** Tokens that providers spend on framing one item or one tool. */
const ITEM_FRAME = 4
const TOOL_FRAME = 8

export const NO_TOKENS: TokenCount = { tokens: 0, isEstimate: false }

/** Counts by vocabulary when an encoding is named; otherwise by a quick estimate that is marked as one. */
export function textCounter(encoding?: string): CountText {
  if (encoding === undefined) {
    return async (text) => ({ tokens: roughTokens(text), isEstimate: true })
  }
  return (text) => countTokens(text, encoding)
}

/** The sum; an estimate as soon as one part is one. */
export function addCounts(...counts: readonly TokenCount[]): TokenCount {
  let tokens = 0
  let isEstimate = false
  for (const count of counts) {
    tokens += count.tokens
    isEstimate ||= count.isEstimate
  }
  return { tokens, isEstimate }
}

/** Everything that an item puts on the wire: text, arguments, media, opaque state. */
export async function countItem(item: HistoryItem, count: CountText): Promise<TokenCount> {
  const texts: string[] = []
  const media: MediaPart[] = []
  const takeParts = (parts: readonly ContentPart[]) => {
    for (const part of parts) {
      if (part.type === 'text') texts.push(part.text)
      else media.push(part)
      takeOpaque(part.providerData)
    }
  }
  const takeOpaque = (data: ProviderData | undefined) => {
    if (data !== undefined) texts.push(JSON.stringify(data.data))
  }
  switch (item.type) {
    case 'message':
      takeParts(item.parts)
      break
    case 'thought':
      texts.push(item.text)
      break
    case 'call':
      takeParts(item.result?.parts ?? [])
      takeOpaque(item.result?.providerData)
      texts.push(item.id, item.tool, item.rawArgs ?? JSON.stringify(item.args))
      break
    case 'openCall':
      texts.push(item.id, item.tool, JSON.stringify(item.args))
      break
    case 'raw':
      texts.push(JSON.stringify(item.value))
      break
    default:
      return item satisfies never
  }
  if (item.type !== 'raw') takeOpaque(item.providerData)
  const counts = media.map((part) => countMedia(part))
  counts.push({ tokens: ITEM_FRAME, isEstimate: false })
  for (const text of texts) counts.push(await count(text))
  return addCounts(...counts)
}

/** Bytes a token of each kind is worth, and what one costs when its size is not known. */
const MEDIA_COSTS = {
  // Providers scale pictures down: size on disk says little, so this is the usual ceiling.
  image: { bytesPerToken: Number.POSITIVE_INFINITY, unknown: 1_600 },
  audio: { bytesPerToken: 500, unknown: 2_000 },
  video: { bytesPerToken: 400, unknown: 10_000 },
  document: { bytesPerToken: 30, unknown: 5_000 },
} as const

/** Always an estimate: each provider has rules of its own. */
export function countMedia({ kind, source }: Pick<MediaPart, 'kind' | 'source'>): TokenCount {
  const { bytesPerToken, unknown } = MEDIA_COSTS[kind]
  if (source.type !== 'base64' || bytesPerToken === Number.POSITIVE_INFINITY) {
    return { tokens: unknown, isEstimate: true }
  }
  return { tokens: Math.ceil((source.data.length * 0.75) / bytesPerToken), isEstimate: true }
}

/** Counts tool definitions, each once: they are the same objects in every request. */
export function toolsCounter(
  count: CountText,
): (tools: readonly ToolDefinition[]) => Promise<TokenCount> {
  const known = new WeakMap<ToolDefinition, TokenCount>()
  return async (tools) => {
    let total = NO_TOKENS
    for (const tool of tools) {
      let one = known.get(tool)
      if (one === undefined) {
        const text = `${tool.name}\n${tool.description}\n${JSON.stringify(tool.inputSchema)}`
        one = addCounts(await count(text), { tokens: TOOL_FRAME, isEstimate: false })
        known.set(tool, one)
      }
      total = addCounts(total, one)
    }
    return total
  }
}
