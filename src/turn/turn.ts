import type { ToolCall } from '../records/tool-call.ts'
import type { Conversation } from './conversation.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { EventBus } from './event-bus.ts'
import type { Interruption } from './interruption.ts'
import type { TurnUsage } from './outcome.ts'
import type { Presentation } from './presentation.ts'
import type { RepeatGuard } from './repeat-guard.ts'
import type { RunnerSettings } from './runner-options.ts'
import type { SecretScrubber } from './secret-scrubber.ts'
import type { ResultSpool } from './small-results.ts'
import type { EventOrigin, FunctionalEvents, ObservedEvents } from './turn-events.ts'
import type { TurnRequest } from './turn-request.ts'

/** One turn while it is under way: everything its pieces share. */
export interface Turn {
  readonly id: string
  /** Before the number of an iteration it names the response; made once, so that a name is two texts, not three. */
  readonly responsePrefix: string
  readonly settings: RunnerSettings
  readonly conversation: Conversation
  readonly results: ResultSpool
  readonly presentation: Presentation
  /** One for all calls: what one was given, another may find somewhere and give back. */
  readonly scrubber: SecretScrubber
  readonly request: TurnRequest
  readonly signal: AbortSignal
  readonly interruption: Interruption
  readonly startedAt: number
  readonly guard: RepeatGuard
  readonly origin: EventOrigin
  readonly content: EventBus<FunctionalEvents>
  readonly observed: EventBus<ObservedEvents>
  readonly ctx: DispatchContext
  /** From 1 once the first iteration has begun. */
  iteration: number
  /** This turn's settled calls by id; `order` says in which order they were asked for. */
  readonly settled: Map<string, ToolCall>
  readonly order: string[]
  /** Replaced and never changed. */
  usage: TurnUsage
  /** Tools whose missing declarations were told of. */
  readonly warned: Set<string>
  /** The turn around this one, when it runs inside a call. */
  readonly parent: Turn | undefined
  /** How deep this turn is nested in others. */
  readonly depth: number
}
