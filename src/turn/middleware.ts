import type { JsonObject } from '../core/json.ts'
import type { Settlement, ToolCall } from '../records/tool-call.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import type { ToolContext } from '../tools/tool-context.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { TurnOutcome } from './outcome.ts'

/** A call as middleware sees it, before it runs. */
export interface CallSubject {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly checksum: string
  readonly ctx: DispatchContext
  /** Winds data onto the conversation's spool. */
  readonly spool: ToolContext['spool']
  /** The record of this call with other results or shown otherwise, for a layer that knows better. */
  record(end: {
    readonly settlement: Settlement
    readonly results: ToolCallResults
    readonly inline?: boolean
  }): ToolCall
}

/**
 * Wraps the turn, the dispatch and each call, like the layers of an onion: what stands first in the list
 * is outermost. Each calls `next` once; what follows it runs also when the inside failed, because the
 * inside never throws.
 */
export interface Middleware {
  turn?(ctx: DispatchContext, next: () => Promise<TurnOutcome>): Promise<TurnOutcome>
  dispatch?(ctx: DispatchContext, next: () => Promise<void>): Promise<void>
  /**
   * May give back another record of the same call, for instance one with `inline: false`. One that
   * throws before `next` refuses the call; one that throws behind it leaves the call as it settled.
   */
  call?(subject: CallSubject, next: () => Promise<ToolCall>): Promise<ToolCall>
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
 * Puts the layers of one kind around `core`. A layer that has not gone inside when the signal aborts is
 * left behind; one that has is waited for, because it may be taking something out of the result. The inside
 * is waited for too, whether its layers do so or not, and nobody goes inside once they have ended.
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
      if (called) throw new Error('Middleware called `next` twice: each layer goes inside once.')
      if (isOver) throw new Error('Middleware called `next` too late: what it wraps is over.')
      called = true
      const inner = run(index + 1)
      // A layer that does not wait for it does not hear of its failure either.
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
