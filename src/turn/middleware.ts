import type { ToolCall } from '../records/tool-call.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { TurnOutcome } from './outcome.ts'

/** A call as middleware sees it, before it runs. */
export interface CallSubject {
  readonly id: string
  readonly tool: string
  readonly checksum: string
  readonly ctx: DispatchContext
}

/**
 * Wraps the turn, the dispatch and each call, like the layers of an onion: what stands first in the list
 * is outermost. Each calls `next` once; what follows it runs also when the inside failed.
 */
export interface Middleware {
  turn?(ctx: DispatchContext, next: () => Promise<TurnOutcome>): Promise<TurnOutcome>
  dispatch?(ctx: DispatchContext, next: () => Promise<void>): Promise<void>
  /** May give back another record of the same call, for instance one with `inline: false`. */
  call?(subject: CallSubject, next: () => Promise<ToolCall>): Promise<ToolCall>
}

/** Puts the layers of one kind around `core`. */
export function wrap<Subject, Result>(
  layers: readonly ((subject: Subject, next: () => Promise<Result>) => Promise<Result>)[],
  subject: Subject,
  core: () => Promise<Result>,
): Promise<Result> {
  const run = (index: number): Promise<Result> => {
    const layer = layers[index]
    if (layer === undefined) return core()
    let called = false
    return layer(subject, () => {
      if (called) throw new Error('Middleware called `next` twice: each layer goes inside once.')
      called = true
      return run(index + 1)
    })
  }
  return run(0)
}
