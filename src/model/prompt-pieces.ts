import { sha256Hex } from '#hash'
import type { HistoryPlace } from './history-place.ts'

/** The prompt of a request, in pieces: what stands before the history, and every block of the history. */
export interface PromptPieces {
  /** The member with the history. */
  readonly member: string
  /** The digests of tools and instructions, as the body has them. */
  readonly head: { readonly tools?: string; readonly instructions?: string }
  /** The members of the body that hold them. */
  readonly names: Pick<HistoryPlace, 'tools' | 'instructions'>
  readonly pieces: readonly string[]
  /** For each piece the place of its message. */
  readonly places: readonly number[]
}

/** Members that tell a provider where to cache. They are not part of the prompt. */
const MARKERS = ['cache_control', 'prompt_cache_breakpoint']

/** The prompt in a body; undefined if the protocol does not say where its history is, or if the body is not JSON. */
export function promptPieces(
  body: object,
  history: HistoryPlace | undefined,
): PromptPieces | undefined {
  if (history === undefined) return undefined
  const { member, tools, instructions } = history
  const list = memberOf(body, member)
  const messages: readonly unknown[] = Array.isArray(list) ? list : list === undefined ? [] : [list]
  const pieces: string[] = []
  const places: number[] = []
  try {
    for (const [place, message] of messages.entries()) {
      for (const piece of piecesOf(message)) {
        pieces.push(piece)
        places.push(place)
      }
    }
    const head = {
      ...(tools !== undefined && { tools: headDigest(memberOf(body, tools)) }),
      ...(instructions !== undefined && { instructions: headDigest(memberOf(body, instructions)) }),
    }
    const names = { ...(tools && { tools }), ...(instructions && { instructions }) }
    return { member, head, names, pieces, places }
  } catch {
    return undefined
  }
}

/** A digest that is long enough to tell texts apart, and short enough for every entry about a request. */
export const shortDigest = (text: string): string => sha256Hex(text).slice(0, 16)

/** The digest of the first pieces. No text of JSON has a line break. */
export const digestOfPieces = (pieces: readonly string[], length: number): string =>
  shortDigest((length === pieces.length ? pieces : pieces.slice(0, length)).join('\n'))

/** Follows a path with dots. */
function memberOf(body: object, path: string): unknown {
  let value: unknown = body
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** A message may grow by blocks, where a protocol joins neighbours. A text is the same as one block of it. */
function piecesOf(message: unknown): readonly string[] {
  if (typeof message !== 'object' || message === null) return [textOf(message)]
  const name = 'content' in message ? 'content' : 'parts'
  const inside: unknown = Reflect.get(message, name)
  const isText = typeof inside === 'string'
  if (!isText && !Array.isArray(inside)) return [textOf(message)]
  const blocks: readonly unknown[] = isText ? [{ type: 'text', text: inside }] : inside
  const rest = textOf({ ...message, [name]: undefined })
  return [rest, ...blocks.filter((block) => !isCachePoint(block)).map(textOf)]
}

const headDigest = (value: unknown): string => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const texts = list.map((each) => (typeof each === 'string' ? { type: 'text', text: each } : each))
  return shortDigest(
    texts
      .filter((each) => !isCachePoint(each))
      .map(textOf)
      .join('\n'),
  )
}

const isCachePoint = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'cachePoint' in value

/** JSON without markers. Few blocks have one, so that most are written once. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  if (!MARKERS.some((name) => text.includes(`"${name}"`))) return text
  return JSON.stringify(value, (name, each: unknown) => (MARKERS.includes(name) ? undefined : each))
}
