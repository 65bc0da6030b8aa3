import type { JsonObject } from '../../core/json/json.ts'
import { asList } from '../../model/wire/wire-value.ts'
import type { ConverseBody } from './request.ts'
import { type ConverseMessage, taggedOf } from './wire/wire.ts'

/** How many cache points a request may have. */
const MAX_POINTS = 4
const POINT = { cachePoint: { type: 'default' } }

/**
 * Whether a model is known to take cache points, by its name. The others refuse a request that has one. Nova caches
 * unasked and takes points in some places only.
 */
export function takesCachePoints(model: string): boolean {
  return (
    /claude/i.test(model) && !/claude-(?:instant|v?2|3-(?:haiku|opus|sonnet|5-sonnet))/i.test(model)
  )
}

/** The request with cache points after the tools, after the system prompt, and after the last two user messages. */
export function withCachePoints(body: ConverseBody): ConverseBody {
  const { toolConfig, system = [], messages } = body
  const tools = asList(toolConfig?.['tools'])
  // Keep points that the application sets: points of different lifetimes have rules about their order.
  if (pointsIn(tools) + pointsIn(system) > 0) return body
  let free = MAX_POINTS - messages.reduce((sum, { content }) => sum + pointsIn(content), 0)
  const isFree = () => free-- > 0
  const [last, before] = userMessages(messages)
  const ends = new Set<number>()
  if (last !== undefined && isFree()) ends.add(last)
  const isTold = system.length > 0 && isFree()
  if (before !== undefined && isFree()) ends.add(before)
  const hasTools = tools.length > 0 && isFree()
  return {
    ...body,
    ...(hasTools && { toolConfig: { ...toolConfig, tools: [...tools, POINT] } }),
    ...(isTold && { system: [...system, POINT] }),
    messages: messages.map((message, at) =>
      ends.has(at) ? { ...message, content: [...message.content, POINT] } : message,
    ),
  }
}

/** The last two user messages without a point at their end, the later one first. */
function userMessages(messages: readonly ConverseMessage[]): readonly number[] {
  return messages
    .flatMap(({ role, content }, at) =>
      role === 'user' && content.length > 0 && !isPoint(content.at(-1)) ? [at] : [],
    )
    .slice(-2)
    .reverse()
}

const isPoint = (block: unknown) => taggedOf(block)?.tag === 'cachePoint'

const pointsIn = (blocks: readonly unknown[]) =>
  (blocks as readonly JsonObject[]).filter(isPoint).length
