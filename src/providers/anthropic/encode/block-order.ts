import { codeCaller, isServerResult } from '../wire/server-tools.ts'
import type { BlockParam } from '../wire/wire.ts'

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

const isThought = ({ type }: BlockParam) => type === 'thinking' || type === 'redacted_thinking'

/**
 * The blocks without reasoning, unless all of it can be sent: the wire refuses a part of a message's reasoning, and a
 * message that ends with reasoning. `count` is how much of it the response had.
 */
export function withWholeThinking(blocks: readonly BlockParam[], count: number): BlockParam[] {
  const last = blocks.at(-1)
  const isWhole = blocks.filter(isThought).length === count
  if (isWhole && (last === undefined || !isThought(last))) return [...blocks]
  return blocks.filter((block) => !isThought(block))
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
