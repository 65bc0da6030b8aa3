import type { Listener } from './events/event-bus.ts'
import { CONTENT_EVENTS } from './events/event-names.ts'
import type { FunctionalEventName, FunctionalEvents } from './events/turn-events.ts'
import type { TurnOutcome } from './limits/outcome.ts'
import type { TurnInput } from './loop/turn-input.ts'

/** One piece of a turn's content, named. */
export type TurnEvent = {
  [Name in FunctionalEventName]: { readonly type: Name } & FunctionalEvents[Name]
}[FunctionalEventName]

/**
 * A turn's content as an async iterable, and its outcome. Leaving the loop early aborts the turn and waits for its end. A turn
 * that cannot start throws inside the loop.
 */
export interface TurnStream<Output> extends AsyncIterable<TurnEvent> {
  readonly outcome: Promise<TurnOutcome<Output>>
}

/** A source of content events. */
interface ContentSource {
  on<Name extends FunctionalEventName>(
    name: Name,
    listener: Listener<FunctionalEvents[Name]>,
  ): () => void
}

/** Runs a turn and queues its content for the iteration. */
export function turnStream<Output>(
  runner: ContentSource,
  input: TurnInput & { readonly conversation: string },
  run: (input: TurnInput) => Promise<TurnOutcome<Output>>,
): TurnStream<Output> {
  let queue: TurnEvent[] = []
  /** The next events, last first: `shift` on a long list is slow. */
  let ahead: TurnEvent[] = []
  const take = () => {
    if (ahead.length === 0) {
      ahead = queue.reverse()
      queue = []
    }
    return ahead.pop()
  }
  /** The iterations that wait for more: one stream may have several. */
  let waiting: (() => void)[] = []
  const wake = () => {
    const all = waiting
    waiting = []
    for (const resolve of all) resolve()
  }
  let isOver = false
  const abort = new AbortController()
  const { conversation, signal: given } = input
  // The turn itself refuses an invalid signal.
  const isSignal = given === undefined || given === null || given instanceof AbortSignal
  const joined = given && isSignal ? AbortSignal.any([given, abort.signal]) : abort.signal
  const signal = isSignal ? joined : given
  const offs = CONTENT_EVENTS.map((type) =>
    runner.on(type, (content, origin) => {
      if (origin.conversation !== conversation) return
      queue.push({ type, ...content } as TurnEvent)
      wake()
    }),
  )
  const outcome = run({ ...input, signal }).finally(() => {
    isOver = true
    for (const off of offs) off()
    wake()
  })
  outcome.catch(() => {})
  return {
    outcome,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          const event = take()
          if (event !== undefined) yield event
          else if (isOver) return void (await outcome)
          else await new Promise<void>((resolve) => waiting.push(resolve))
        }
      } finally {
        if (!isOver) {
          abort.abort()
          await outcome.catch(() => {})
        }
      }
    },
  }
}
