import type { TrustTier } from '../../core/trust.ts'
import type { Usage } from '../../model/events/model-event.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { Gate, GateRequest } from '../../store/gate.ts'
import type { RunnerStore } from '../../store/store.ts'
import { AROUND, type ToolContext } from '../../tools/tool-context.ts'
import type { ObservedBus } from '../events/event-bus.ts'
import type { EventOrigin } from '../events/turn-events.ts'
import type { StopReason } from '../limits/outcome.ts'
import type { StartedState } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import type { TrustPolicy } from './trust-policy.ts'

/** A turn that runs inside a call, as the call sees it. Sub-agents implement this. */
export interface InnerTurn {
  /** The gates it waits for. They are opened again as gates of the call, which stays open as long as there are some. */
  readonly gates: readonly GateRequest[]
  /** The trust of the least trusted content that it has seen. */
  readonly trust: TrustTier
  /** Whether calls in it took effect, or may have: if it does not complete, its call is in doubt. */
  readonly hasDoubts: boolean
  /** The call has its record: ends the calls that the turn left open, as soon as the turn has ended. */
  leave(): Promise<void>
}

/** The call around a handler. A turn that starts in the handler reports itself with `enter`. */
export interface CallSite {
  readonly outer: OuterTurn
  /** Whether an earlier attempt at the call may have run. */
  readonly mayHaveRun: boolean
  readonly enter: (inner: InnerTurn) => void
}

/** The call around a handler, found in the handler's context. */
export const callSite = (context: ToolContext): CallSite | undefined =>
  (context as { readonly [AROUND]?: CallSite })[AROUND]

/** The turn that an earlier process may have left inside a call that it started. */
export interface LeftInside {
  /** Whether the inner turn still waits for a decision. */
  isHeldUp(): Promise<boolean>
  /** Hands the decisions to the inner turn; gives the facts that close the gates of the call. */
  passOn(): Promise<readonly Fact[]>
  /** Whether all its gates were decided in time; undefined when it had none. */
  readonly isDecided: boolean | undefined
  /** Ends all its open calls. Gives true when calls in it took effect, or may have. */
  abandon(): Promise<boolean>
  /** The same after the call has its record, if anything is open. */
  leave(): Promise<void>
}

/** Access to the turns inside the calls of a turn. */
export interface InnerTurns {
  /** The call site for a handler's context, through which an inner turn finds its outer turn. */
  site(mayHaveRun: boolean, enter: CallSite['enter']): CallSite
  leftIn(started: StartedState, gates: readonly Gate[]): LeftInside
  /** Ends open turns inside calls that have their records, except in those to keep. */
  sweep(keep: Iterable<StartedState>): Promise<void>
}

/** The settings that inner turns inherit. */
export interface InheritedSettings {
  readonly store: RunnerStore
  readonly spool: SpoolStore
  readonly policy: TrustPolicy
  readonly budget: { readonly maxTokens: number; readonly encoding?: string } | undefined
  readonly tools: Iterable<object> & { get(name: string): object | undefined }
}

/** A turn, as the turns inside its calls see it. */
export interface OuterTurn {
  readonly origin: EventOrigin
  readonly epoch: number
  readonly depth: number
  /** Its conversation, and those of the turns around it. */
  readonly conversations: readonly string[]
  /** What the application passed as `context`: inner turns have the same. */
  readonly context: unknown
  /** The results of external calls that this process received, by gate. */
  readonly outputs: ReadonlyMap<string, unknown> | undefined
  readonly settings: InheritedSettings
  readonly observed: ObservedBus
  readonly taint: TrustTier
  /** Whether its model calls are counted before they are made. */
  readonly isLimited: boolean
  addUsage(usage: Usage, cost?: Cost): void
  /** Why a model call with this input must not be made. */
  overspent(next: { readonly tokens: number; readonly cost: number }): StopReason | undefined
  /** Counts the input of a model call while it runs. */
  hold(input: { readonly tokens: number; readonly cost: number }, sign: 1 | -1): void
}

/** What a response cost, if that is known. */
export interface Cost {
  readonly amount?: number
  /** The model that has no price. */
  readonly unpriced?: string
}
