import { codeCaller, isServerResult } from './server-tools.ts'
import type { BlockParam } from './wire.ts'

/**
 * Calls that the model made itself go behind texts and finished server calls: their results come in
 * the next message, and nothing may stand in between. Calls made from code are tied to their place.
 */
export function callsLast(blocks: readonly BlockParam[]): readonly BlockParam[] {
  const isDirect = (block: BlockParam) =>
    block.type === 'tool_use' && codeCaller(block) === undefined
  const first = blocks.findIndex(isDirect)
  const last = blocks.findLastIndex((block) => block.type === 'text' || isServerResult(block.type))
  if (first === -1 || first > last) return blocks
  return [...blocks.filter((block) => !isDirect(block)), ...blocks.filter(isDirect)]
}

/** An assistant message must not end with reasoning: it leads to something or is of no use. */
export function withoutTrailingThought(blocks: readonly BlockParam[]): BlockParam[] {
  const isThought = ({ type }: BlockParam) => type === 'thinking' || type === 'redacted_thinking'
  return blocks.slice(0, blocks.findLastIndex((block) => !isThought(block)) + 1)
}

/** Results in the order of the calls that they answer, after those were moved. */
export function inOrderOf<Result extends { readonly tool_use_id: string }>(
  blocks: readonly BlockParam[],
  results: readonly Result[],
): Result[] {
  const places = new Map(
    blocks.flatMap((block, index) => (block.type === 'tool_use' ? [[block.id, index]] : [])),
  )
  const placeOf = ({ tool_use_id }: Result) => places.get(tool_use_id) ?? 0
  return results.toSorted((a, b) => placeOf(a) - placeOf(b))
}
