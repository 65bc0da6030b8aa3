import { asObject, asText } from '../../../model/wire/wire-value.ts'
import { isServerUse } from '../decode/decode-block.ts'
import { type Block, taggedOf } from '../wire/wire.ts'

const tagOf = (block: Block | undefined) => taggedOf(block)?.tag

/** The id of a call that the runner answers. */
function runnerId(block: Block): string | undefined {
  const tagged = taggedOf(block)
  const use = tagged?.tag === 'toolUse' ? asObject(tagged.body) : undefined
  return use === undefined || isServerUse(use) ? undefined : (asText(use['toolUseId']) ?? '')
}

/**
 * Calls of the runner's go after texts and finished server calls: their results come in the next message, and
 * nothing may stand in between. A cache point stays after its call.
 */
export function callsLast(blocks: readonly Block[]): readonly Block[] {
  const isCall = (block: Block, at: number): boolean => {
    const before = blocks[at - 1]
    if (tagOf(block) === 'cachePoint' && before !== undefined) return isCall(before, at - 1)
    return runnerId(block) !== undefined
  }
  const first = blocks.findIndex((block) => runnerId(block) !== undefined)
  const last = blocks.findLastIndex((block) => ENDS.has(tagOf(block)))
  if (first === -1 || first > last) return blocks
  return [...blocks.filter((block, at) => !isCall(block, at)), ...blocks.filter(isCall)]
}

const ENDS: ReadonlySet<unknown> = new Set(['citationsContent', 'text', 'toolResult'])

const isReasoning = (block: Block | undefined) => tagOf(block) === 'reasoningContent'

/**
 * The blocks without reasoning, unless all of it can be sent: the wire refuses a part of a message's reasoning, and a
 * message that ends with reasoning. `count` is how much of it the response had.
 */
export function withWholeReasoning(blocks: readonly Block[], count: number): Block[] {
  const isWhole = blocks.filter(isReasoning).length === count
  if (isWhole && !isReasoning(blocks.at(-1))) return [...blocks]
  return blocks.filter((block) => !isReasoning(block))
}

/** Results in the order of the calls that they answer, after those were moved. */
export function inOrderOf(
  blocks: readonly Block[],
  results: readonly (readonly Block[])[],
): readonly (readonly Block[])[] {
  const places = new Map(blocks.map((block, index) => [runnerId(block), index]))
  const placeOf = ([result]: readonly Block[]) =>
    places.get(asText(asObject(result?.['toolResult'])?.['toolUseId'])) ?? 0
  return results.toSorted((a, b) => placeOf(a) - placeOf(b))
}
