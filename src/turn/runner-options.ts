import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import { type Clock, sureClock, systemClock } from '../core/clock.ts'
import { checkedIds, type IdSource, randomId } from '../core/ids.ts'
import type { Model } from '../model/model.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { memoryStore } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import type { Tool } from '../tools/tool.ts'
import { ToolRegistry } from '../tools/tool-registry.ts'
import { checkOptions, invalidRunner, type TRUST_POLICIES } from './check-options.ts'
import type { Executor } from './executor.ts'
import type { Approve } from './gate-answer.ts'
import { TURN_LIMITS, type TurnLimits } from './limits.ts'
import type { Middleware } from './middleware.ts'
import { modelExecutor } from './model-executor.ts'
import { REPEAT_LIMITS, type RepeatLimits } from './repeat-guard.ts'

/**
 * How much a conversation that has seen third-party text may do without asking: by `default` it asks before `write` tools,
 * `strict` also before tools that declare no effect, `open` before none. What a tool's own `approval` asks for stands.
 */
export type TrustPolicy = (typeof TRUST_POLICIES)[number]

/** Resolves after the time, or at once when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })

/** What a runner can be told besides who decides. */
interface CommonOptions {
  readonly tools?: Iterable<Tool>
  /** What the model is told before everything else. */
  readonly instructions?: string
  /** Where records go; in memory unless given. */
  readonly store?: Store
  /** Where large results go; the store's own spool unless given. */
  readonly spool?: SpoolStore
  /** Decides gates in process; without it a gate suspends the turn. */
  readonly approve?: Approve
  readonly middleware?: readonly Middleware[]
  /** How often a turn may ask its executor; 20 unless given. */
  readonly maxIterations?: number
  /** How many calls a turn may hold; 200 unless given. */
  readonly maxCalls?: number
  /** Wall-clock limit of a turn; 30 minutes unless given. */
  readonly maxTimeMs?: number
  /** How many calls run at once; eight unless given. */
  readonly concurrency?: number
  /** How long a call may take, unless its tool says otherwise; 60 seconds unless given. */
  readonly timeoutMs?: number
  /** When a call that repeats itself gets a hint (3), is refused (5), and stops the turn (8). */
  readonly repeat?: Partial<RepeatLimits>
  /** How many tokens a request may hold: old results become handles, then the oldest turns go. No limit unless given. */
  readonly budget?: { readonly maxTokens: number; readonly encoding?: string }
  /** Which writes somebody must agree to; `default` unless given. */
  readonly policy?: TrustPolicy
  /** 32 bytes from which the keys of conversations derive; random and stored unless given. */
  readonly secret?: Uint8Array
  /** Gives handlers what `ctx.secret(name)` asks for. */
  readonly secrets?: (name: string) => string | Promise<string>
  /** Artifact classes of the application's own, so that stored results find them again. */
  readonly artifacts?: RestoreContext['artifacts']
  /**
   * How often a model call that failed in passing is tried again; twice unless given, besides what the provider's
   * client tries by itself.
   */
  readonly retries?: number
  readonly clock?: Clock
  readonly ids?: IdSource
  /** Waits before a model call is tried again; tests pass one that does not. */
  readonly sleep?: Sleep
}

/** A model or an executor is required; everything else has a default. */
export type TurnRunnerOptions = CommonOptions &
  (
    | { readonly model: Model; readonly executor?: never }
    | { readonly executor: Executor; readonly model?: never }
  )

/** The options with every default filled in. */
export interface RunnerSettings {
  readonly executor: Executor
  readonly model: Model | undefined
  readonly tools: ToolRegistry
  readonly instructions: string | undefined
  readonly store: Store
  readonly spool: SpoolStore
  readonly approve: Approve | undefined
  readonly middleware: readonly Middleware[]
  readonly limits: TurnLimits
  readonly concurrency: number
  readonly timeoutMs: number
  readonly repeat: RepeatLimits
  readonly budget: CommonOptions['budget']
  readonly policy: TrustPolicy
  readonly secret: Uint8Array | undefined
  readonly secrets: CommonOptions['secrets']
  readonly artifacts: RestoreContext['artifacts']
  readonly retries: number
  readonly clock: Clock
  readonly ids: IdSource
  readonly sleep: Sleep
}

export function runnerSettings(options: TurnRunnerOptions): RunnerSettings {
  checkOptions(options)
  const executor = options.executor ?? modelExecutor(options.model)
  const store = options.store ?? memoryStore()
  const spool = options.spool ?? store.spool ?? memorySpool()
  if (store.durable && !spool.durable) {
    throw invalidRunner(
      'has a durable store and a spool that dies with the process',
      'Pass `fileSpool(folder)`',
    )
  }
  const tools = new ToolRegistry(options.tools)
  // A turn is shown this very registry, and must not change it for all others.
  Object.freeze(tools)
  return {
    executor,
    model: options.model,
    tools,
    instructions: options.instructions,
    store,
    spool,
    approve: options.approve,
    middleware: options.middleware ?? [],
    limits: {
      maxIterations: options.maxIterations ?? TURN_LIMITS.maxIterations,
      maxCalls: options.maxCalls ?? TURN_LIMITS.maxCalls,
      maxTimeMs: options.maxTimeMs ?? TURN_LIMITS.maxTimeMs,
    },
    concurrency: options.concurrency ?? 8,
    timeoutMs: options.timeoutMs ?? 60_000,
    repeat: {
      hint: options.repeat?.hint ?? REPEAT_LIMITS.hint,
      refuse: options.repeat?.refuse ?? REPEAT_LIMITS.refuse,
      stop: options.repeat?.stop ?? REPEAT_LIMITS.stop,
    },
    budget: options.budget,
    policy: options.policy ?? 'default',
    secret: options.secret,
    secrets: options.secrets,
    artifacts: options.artifacts,
    retries: options.retries ?? 2,
    clock: sureClock(options.clock ?? systemClock),
    ids: checkedIds(options.ids ?? randomId),
    sleep: options.sleep ?? sleep,
  }
}
