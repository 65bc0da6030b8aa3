import type { JsonObject } from '../../core/json/json.ts'
import type { PlacedMedia } from '../../records/placed-media.ts'
import type { Settlement, ToolCall } from '../../records/tool-call.ts'
import type { ToolCallResults } from '../../records/tool-call-results.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import type { DispatchContext } from '../request/dispatch-context.ts'

/** A call as middleware sees it, before it runs. */
export interface CallSubject<Context = unknown> {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly checksum: string
  readonly ctx: DispatchContext<Context>
  /** Writes data to the conversation's spool. */
  readonly spool: ToolContext['spool']
  /** Makes a record of this call with other results, for a layer that replaces them. */
  record(end: {
    readonly settlement: Settlement
    readonly results: ToolCallResults
    /** Media beside the results, with their places. */
    readonly media?: readonly PlacedMedia[] | undefined
    readonly inline?: boolean
  }): ToolCall
}

/**
 * Wraps the turn, the dispatch and each call, like the layers of an onion: the first in the list is outermost. Each calls
 * `next` once. The code after `next` always runs, because the inside never throws.
 */
export interface Middleware<Context = unknown> {
  turn?(ctx: DispatchContext<Context>, next: () => Promise<TurnOutcome>): Promise<TurnOutcome>
  dispatch?(ctx: DispatchContext<Context>, next: () => Promise<void>): Promise<void>
  /**
   * May return another record of the same call, for instance one with `inline: false`. An error before `next` refuses
   * the call; an error after `next` leaves the call as it settled.
   */
  call?(subject: CallSubject<Context>, next: () => Promise<ToolCall>): Promise<ToolCall>
}

type Kind = 'turn' | 'dispatch' | 'call'
type Layer<K extends Kind> = NonNullable<Middleware[K]>

/** The layers of one kind, in their order. */
export function layersOf<K extends Kind>(list: readonly Middleware[], kind: K): Layer<K>[] {
  return list.flatMap((each) => {
    const layer = each[kind]
    return layer === undefined ? [] : [layer.bind(each) as Layer<K>]
  })
}

/**
 * Puts the layers of one kind around `core`. If the signal aborts before the core has started, the layers are not awaited.
 * Once it has started they are, because a layer may be removing something from the result. The core is awaited even if
 * the layers do not await it, and `next` fails once they have ended.
 */
export async function wrap<Subject, Result>(
  layers: readonly ((subject: Subject, next: () => Promise<Result>) => Promise<Result>)[],
  subject: Subject,
  core: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  if (layers.length === 0) return core()
  let inside: Promise<Result> | undefined
  let isOver = false
  const run = async (index: number): Promise<Result> => {
    const layer = layers[index]
    if (layer === undefined) {
      inside = core()
      return inside
    }
    let called = false
    return layer(subject, () => {
      if (called) throw new Error('Middleware called `next` twice: call it once.')
      if (isOver) throw new Error('Middleware called `next` too late: its layer has ended.')
      called = true
      const inner = run(index + 1)
      // A layer may not await it; its failure must not become an unhandled rejection.
      inner.catch(() => {})
      return inner
    })
  }
  let onAbort = () => {}
  const leftBehind = new Promise<never>((_, reject) => {
    onAbort = () => {
      if (inside === undefined) reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([run(0), leftBehind])
  } finally {
    isOver = true
    signal.removeEventListener('abort', onAbort)
    await inside?.catch(() => {})
  }
}
