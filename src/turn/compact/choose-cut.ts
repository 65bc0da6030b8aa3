import type { HistoryItem } from '../../records/history-item.ts'
import { OpenCalls } from '../../records/open-calls.ts'
import type { Origin } from '../request/history-place.ts'
import type { MeasuredRequest } from '../request/turn-request.ts'

/** A history that became too large, and how much of it may stay. */
export interface CutRequest extends MeasuredRequest {
  readonly items: readonly HistoryItem[]
  readonly origins: readonly Origin[]
  /** The number of the first place. */
  readonly base: number
  /** True when the first item is the summary of what came before. */
  readonly hasSummary: boolean
  readonly at: number
  readonly keepTurns: number
}

/** Where a history is cut: the items before it go into a summary. */
export interface Cut {
  /** The number of the first place that stays. */
  readonly place: number
  /** The last entry before it. */
  readonly upTo: number
  /** Entries before it whose messages stay. */
  readonly keeps: readonly number[]
  /** The items that the summary has to cover, as requests showed them. */
  readonly items: readonly HistoryItem[]
  /** How many tokens they have, with the summary that they follow. */
  readonly tokens: number
}

/** Of more messages in one turn, the summary has to tell. */
const MAX_KEPT = 64
/** Room for a summary that is not written yet, as a share of the limit. */
const SUMMARY_SHARE = 0.1
/** Less than this share of the limit is not worth a summary. */
const LEAST_SHARE = 0.1

/**
 * Chooses where to cut: before the turns that are to be kept, or inside them if they alone are too much. A cut is at the
 * border of a group, after a response: a call stays with its result, and a message with its answer.
 */
export function chooseCut(request: CutRequest): Cut | undefined {
  const { items, origins, hasSummary } = request
  const shown = request.shown()
  const sizes = items.map((item) => shown.get(item)?.tokens ?? 0)
  const history = sumsFromEnd(sizes)
  const before = (place: number) => (history[0] ?? 0) - (history[place] ?? 0)
  const messages = runningMessages(origins)
  const keptBefore = (place: number) => messages.filter((message) => message < place)
  const own = request.tokens - (history[0] ?? 0)
  const sizeAfter = (place: number) =>
    own +
    (history[place] ?? 0) +
    keptBefore(place).reduce((sum, message) => sum + (sizes[message] ?? 0), 0) +
    Math.min(before(place), request.at * SUMMARY_SHARE)
  const place = chosenPlace(request, { own, sizeAfter, sizeFrom: (from) => history[from] ?? 0 })
  if (place === undefined) return undefined
  const first = hasSummary ? 1 : 0
  if (before(place) - before(first) < request.at * LEAST_SHARE) return undefined
  const covered = origins.slice(first, place)
  return {
    place: request.base + place,
    upTo: covered.reduce((latest, { last }) => Math.max(latest, last), 0),
    keeps: keptBefore(place).map((message) => origins[message]?.first ?? 0),
    items: items
      .slice(first, place)
      .flatMap((item) => (isSetUp(item) ? [] : (shown.get(item)?.item ?? []))),
    tokens: before(place),
  }
}

interface Sizes {
  /** The size of a request without any history. */
  readonly own: number
  /** The size of the request after a cut. */
  readonly sizeAfter: (place: number) => number
  /** The size of the history from a place on. */
  readonly sizeFrom: (place: number) => number
}

/** Before the turns that are to be kept if that is enough; else as far behind as it takes. */
function chosenPlace(request: CutRequest, sizes: Sizes): number | undefined {
  const { origins, at, keepTurns } = request
  const { own, sizeAfter } = sizes
  const turns = [...new Set(origins.map(({ turn }) => turn))]
  const oldest = turns.at(-keepTurns) ?? Number.NEGATIVE_INFINITY
  const borders = bordersOf(request)
  const isWished = (place: number) =>
    (origins[place]?.turn ?? 0) <= oldest && origins[place]?.turn !== origins[place - 1]?.turn
  const wished = borders.findLast(isWished)
  if (wished !== undefined && sizeAfter(wished) <= at) return wished
  const deeper = borders.filter((place) => place > (wished ?? 0))
  return (
    deeper.find((place) => sizeAfter(place) <= own + (at - own) / 2) ??
    deeper.find((place) => sizeAfter(place) <= at) ??
    lastResort(request, deeper, sizes) ??
    wished
  )
}

/** If nothing makes the request small enough, a running turn that is too large by itself is cut as far as it can be. */
function lastResort(
  { origins, at }: CutRequest,
  borders: readonly number[],
  { sizeFrom }: Sizes,
): number | undefined {
  const newest = origins.at(-1)?.turn
  const start = origins.findIndex(({ turn }) => turn === newest)
  return sizeFrom(start) > at ? borders.findLast((place) => place > start) : undefined
}

/** The places of the running turn's messages. */
function runningMessages(origins: readonly Origin[]): readonly number[] {
  const newest = origins.at(-1)?.turn
  const messages = origins.flatMap(({ isUser, turn }, at) =>
    isUser && turn === newest ? [at] : [],
  )
  return messages.slice(-MAX_KEPT)
}

/** The sums of the sizes from each place to the end. */
function sumsFromEnd(sizes: readonly number[]): number[] {
  const sums = [...sizes, 0]
  for (let at = sizes.length - 1; at >= 0; at--) sums[at] = (sums[at + 1] ?? 0) + (sizes[at] ?? 0)
  return sums
}

/** The places where the history may be cut, in order. */
function bordersOf({ items, origins, hasSummary }: CutRequest): number[] {
  const newestUser = origins.findLastIndex(({ isUser }) => isUser)
  const links = linksOf(items)
  const firstBehind = earliestBehind(origins)
  const borders: number[] = []
  let last = 0
  let neededUntil = 0
  for (let place = hasSummary ? 1 : 0; place < items.length; place++) {
    const before = items[place - 1]
    const isBehindResponse = place > 0 && before !== undefined && !isSaid(before)
    const isGroupEnd = before?.response === undefined || before.response !== items[place]?.response
    const isApart = last < (firstBehind[place] ?? 0) && place > neededUntil
    if (isBehindResponse && isGroupEnd && isApart && !(hasSummary && place === 1))
      borders.push(place)
    last = Math.max(last, origins[place]?.last ?? 0)
    // A call that its provider may continue stays, and so does one that a later item settles, with that item.
    const settledAt = links.get(place)
    const isOpen = items[place]?.type === 'openCall' && place > newestUser
    if (settledAt !== undefined || isOpen)
      neededUntil = Math.max(neededUntil, settledAt ?? items.length)
  }
  return borders
}

/** Whether it announces changed tools and instructions: later requests have them anyway. */
const isSetUp = (item: HistoryItem) => item.type === 'message' && item.change !== undefined

/** Whether the user or the runner said it: an answer follows. */
const isSaid = (item: HistoryItem) => item.type === 'message' && item.role !== 'assistant'

/** The first entry of everything from each place on. */
function earliestBehind(origins: readonly Origin[]): number[] {
  const earliest: number[] = []
  let least = Number.POSITIVE_INFINITY
  for (let at = origins.length - 1; at >= 0; at--) {
    least = Math.min(least, origins[at]?.first ?? 0)
    earliest[at] = least
  }
  return earliest
}

/** The places of calls that providers left open, with the places of the items that settle them. */
function linksOf(items: readonly HistoryItem[]): Map<number, number> {
  const open = new OpenCalls()
  const opened = new Map<HistoryItem, number>()
  const links = new Map<number, number>()
  for (const [place, item] of items.entries()) {
    if (item.type === 'openCall') {
      open.see(item)
      opened.set(item, place)
    }
    if (item.type !== 'call' || item.executedBy !== 'provider') continue
    const from = opened.get(open.take(item) ?? item)
    if (from !== undefined) links.set(from, place)
  }
  return links
}
