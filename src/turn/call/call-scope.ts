import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import type { Clock } from '../../core/clock.ts'
import type { IdSource } from '../../core/ids.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolRegistry } from '../../tools/tool-registry.ts'
import type { TurnTrace } from '../events/telemetry.ts'
import type { TurnEmitter } from '../events/turn-emitter.ts'
import type { Interruption } from '../limits/cut-off.ts'
import type { RepeatGuard } from '../limits/repeat-guard.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import type { DispatchContext } from '../request/dispatch-context.ts'
import type { InnerTurns } from './inner-turn.ts'
import type { Middleware } from './middleware.ts'
import type { CallOutput } from './output.ts'
import type { TrustPolicy } from './trust-policy.ts'

/** The settings that apply to a call. */
export interface CallRules {
  readonly store: RunnerStore
  readonly policy: TrustPolicy
  readonly timeoutMs: number
  readonly middleware: readonly Middleware[]
  readonly limits: { readonly calls: number }
  readonly clock: Clock
  readonly ids: IdSource
}

/** Where a turn runs, and on whose behalf: standing approvals hold for these. */
export interface Standing {
  /** The conversation, and those of the turns around it. */
  readonly conversations: readonly string[]
  /** What the runner's `subject` gives for the turn. */
  subject(): string | undefined
}

/** The part of a turn that its calls need: `call/`, `gates/` and `recovery/` see nothing else of it. */
export interface CallScope {
  readonly settings: CallRules
  readonly log: ConversationLog
  /** Reads records back. */
  readonly restore: RestoreContext
  /** The tools of this iteration. */
  readonly tools: ToolRegistry
  /** The tool of a call that was asked for before, perhaps by another agent. */
  toolOf(name: string): Tool | undefined
  readonly guard: RepeatGuard
  readonly output: CallOutput
  readonly events: TurnEmitter
  readonly interruption: Interruption
  /** The context for middleware. */
  readonly ctx: DispatchContext
  readonly inner: InnerTurns
  readonly standing: Standing
  /** The trace of the turn, if the runner has `telemetry`. */
  readonly trace?: TurnTrace | undefined
}
