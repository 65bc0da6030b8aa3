import { type Clock, systemClock } from '../../core/clock.ts'
import { delay } from '../../core/delay.ts'
import { isIterable, isObject } from '../../core/error/wrong-input.ts'
import { type IdSource, randomId } from '../../core/ids.ts'
import {
  atLeast,
  group,
  hasMethods,
  isAtLeast,
  isFunction,
  type OptionTable,
  option,
  optionOr,
} from '../../core/options.ts'
import type { Model } from '../../model/model.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { DEFAULT_LEASE_MS, type RunnerStore } from '../../store/store.ts'
import type { Middleware } from '../call/middleware.ts'
import { TRUST_POLICIES, type TrustPolicy } from '../call/trust-policy.ts'
import { type Compaction, isCompaction } from '../compact/compaction.ts'
import type { Telemetry } from '../events/telemetry.ts'
import type { Executor } from '../executor/executor.ts'
import type { Approve } from '../gates/gate-answer.ts'
import type { MayDecide } from '../gates/may-decide.ts'
import { TURN_LIMITS, type TurnLimits } from '../limits/limits.ts'
import { isPrices, type Prices } from '../limits/prices.ts'
import { REPEAT_LIMITS, type RepeatLimits } from '../limits/repeat-guard.ts'
import {
  type AgentOptions,
  isAgents,
  type SetupContext,
  type ToolsOption,
} from './agent-options.ts'

/** Resolves after the time, or at once when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** How many tokens a request may have. */
export interface TokenBudget {
  readonly maxTokens: number
  /** How tokens are counted; see `registerTokenCounter`. */
  readonly encoding?: string
}

/** Every option of a runner. */
export interface RunnerOptions<Context = unknown> {
  /** Decides what happens next in a turn. A runner has either this or an `executor`. */
  readonly model?: Model
  /** Decides what happens next in a turn, instead of a model. */
  readonly executor?: Executor
  /** The tools that the model may call; a function is called once for each turn, and again when one continues. */
  readonly tools?: ToolsOption<Context>
  /** What the model reads before everything else; a function is called as that of `tools` is. */
  readonly instructions?: string | ((ctx: SetupContext<Context>) => string | Promise<string>)
  /**
   * Agents that hand the conversation over to each other with the tool `hand_over`; the first one begins. The runner's own
   * `instructions` and `tools` are before those of each.
   */
  readonly agents?: Readonly<Record<string, AgentOptions<Context>>>
  /** Where records go; in memory unless given. */
  readonly store?: RunnerStore
  /** Where large results go; the store's own spool unless given. */
  readonly spool?: SpoolStore
  /** Decides gates in process; without it a gate suspends the turn. */
  readonly approve?: Approve
  /**
   * Says who may decide what: called for every decision that `resume` gets, before one of them counts. Anything but `true`
   * refuses the decision. Everybody may decide unless given.
   */
  readonly mayDecide?: MayDecide<Context>
  /** On whose behalf a turn runs, from its `context`: standing approvals may be given for such a subject. */
  readonly subject?: (context: Context) => string
  /** Code that runs around turns, dispatches and calls; the first is the outermost. */
  readonly middleware?: readonly Middleware<Context>[]
  /** Where a turn stops. */
  readonly limits?: TurnLimits
  /** How many calls run at once; eight unless given. */
  readonly concurrency?: number
  /** How long a call may take, unless its tool says otherwise; 60 seconds unless given. */
  readonly timeoutMs?: number
  /** When a call that repeats itself gets a hint, is refused, and stops the turn. */
  readonly repeat?: RepeatLimits
  /** How many tokens a request may have: old results become handles, then the oldest turns go. No limit unless given. */
  readonly budget?: TokenBudget
  /** Replaces the beginning of a long conversation by a summary. Without it, nothing is summarised. */
  readonly compact?: Compaction<Context>
  /** Which writes need an approval; `default` unless given. */
  readonly policy?: TrustPolicy
  /** At least 32 random bytes from which the keys of conversations derive; random and stored unless given. */
  readonly conversationSecret?: Uint8Array
  /** Gives handlers what `ctx.secret(name)` asks for. */
  readonly secrets?: (name: string) => string | Promise<string>
  /** Artifact classes of the application, so that stored results become instances of them again. */
  readonly artifacts?: readonly SpooledArtifactConstructor[]
  /**
   * How often a model call that failed transiently is tried again; twice unless given, besides what the provider's
   * client tries by itself.
   */
  readonly retries?: number
  /**
   * How long the lease of a conversation lasts without renewal, in milliseconds; 30,000 unless given. After a crash, the
   * conversation is free when it expires.
   */
  readonly leaseMs?: number
  /** What a million tokens of each model cost: `{ 'gpt-5.4': { input, output, cached, cacheWrite } }`. */
  readonly prices?: Prices
  /**
   * What the log keeps of each request: all of its parts (`'parts'`, unless given), so that `requestOf` can show it again, or
   * only their digests.
   */
  readonly capture?: Capture
  /** Traces turns, model calls and tool calls: `telemetry()` of `bobbin-adk/otel`. Sub-agents have it too. */
  readonly telemetry?: Telemetry
  /** What tests replace in order to be quick and repeatable. */
  readonly testing?: TestingOptions
}

const CAPTURES = ['parts', 'digests'] as const
/** What the log keeps of each request to a model. */
export type Capture = (typeof CAPTURES)[number]

/** What tests replace in order to be quick and repeatable. */
export interface TestingOptions {
  /** Tells the time; the system's clock unless given. */
  readonly clock?: Clock
  /** Makes ids; random ones unless given. */
  readonly ids?: IdSource
  /** Waits before a model call is tried again. */
  readonly sleep?: Sleep
}

/** The check and the default of each. Types cannot speak for JavaScript callers. */
export const RUNNER_OPTIONS = {
  model: option(
    hasMethods('stream'),
    "must be a model, such as `openaiResponses({ client: new OpenAI(), model: '…' })` of `bobbin-adk/openai`",
  ),
  executor: option(isFunction, 'must be a function that returns `{ calls }` or `{ answer }`'),
  tools: option(
    (value) => isIterable(value) || isFunction(value),
    'must be a list, `[new Tool({ … })]`, or a function that gives one',
  ),
  instructions: option(
    (value) => typeof value === 'string' || isFunction(value),
    'must be a string, or a function that gives one',
  ),
  agents: option(
    isAgents,
    'must be an object of agents, each with `instructions`, `tools`, `model`, `description` or `handOverTo`, such as `{ triage: { instructions }, billing: { tools } }`',
  ),
  store: option(
    hasMethods('acquire', 'append', 'entries'),
    "must be a store: `memoryStore()`, or `sqliteStore('agent.db')` of `bobbin-adk/sqlite`",
  ),
  spool: option(
    hasMethods('write', 'read'),
    'must be a spool store: `memorySpool()`, or `fileSpool(folder)` of `bobbin-adk/fs`',
  ),
  approve: option(
    isFunction,
    'must be a function of a request (`async () => true` approves everything)',
  ),
  mayDecide: option(
    isFunction,
    'must be a function of a gate, a decision and `{ context }` that gives true or false',
  ),
  subject: option(isFunction, 'must be a function from the context of a turn to a string'),
  middleware: optionOr(
    [],
    (value) => Array.isArray(value) && value.every(isMiddleware),
    'must be a list of objects with functions named `turn`, `dispatch` or `call`, and none of other names',
  ),
  limits: group(TURN_LIMITS),
  concurrency: atLeast(1, 8),
  timeoutMs: atLeast(1, 60_000),
  repeat: group(REPEAT_LIMITS),
  budget: option(
    (value) => isObject(value) && isAtLeast(1)(Reflect.get(value, 'maxTokens')),
    'must be `{ maxTokens }`, where `budget.maxTokens` is a number of at least 1',
  ),
  compact: option(
    isCompaction,
    'must be `{ at, summarise }`, perhaps with `keepTurns`: numbers of at least 1 and a function such as `modelSummary(model)`',
  ),
  policy: optionOr<TrustPolicy>(
    'default',
    (value) => (TRUST_POLICIES as readonly unknown[]).includes(value),
    `must be one of ${TRUST_POLICIES.join(', ')}`,
  ),
  conversationSecret: option(
    (value) => ArrayBuffer.isView(value) && value.byteLength >= 32,
    'must be a Uint8Array of at least 32 random bytes',
  ),
  secrets: option(isFunction, 'must be a function from a name to its secret'),
  artifacts: option(
    (value) => Array.isArray(value) && value.every(isFunction),
    'must be a list of classes',
  ),
  retries: atLeast(0, 2),
  leaseMs: optionOr(
    DEFAULT_LEASE_MS,
    (value) => Number.isSafeInteger(value) && isAtLeast(1000)(value),
    'must be a whole number of milliseconds, at least 1000',
  ),
  prices: option(
    isPrices,
    "must be a table such as `{ 'gpt-5.4': { input: 1.25, output: 10 } }`, with numbers of at least 0 for a million tokens",
  ),
  capture: optionOr<Capture>(
    'parts',
    (value) => (CAPTURES as readonly unknown[]).includes(value),
    `must be one of ${CAPTURES.join(', ')}`,
  ),
  telemetry: option(hasMethods('turn'), 'must be `telemetry()` of `bobbin-adk/otel`'),
  testing: group({
    clock: optionOr(systemClock, hasMethods('now'), 'must have a `now()`'),
    ids: optionOr(randomId, isFunction, 'must be a function that makes ids'),
    sleep: optionOr<Sleep>(delay, isFunction, 'must be a function of milliseconds and a signal'),
  } satisfies OptionTable<TestingOptions>),
} satisfies OptionTable<RunnerOptions>

/** Where the options of earlier versions went. */
export const RENAMED_OPTIONS = {
  maxIterations: 'limits.iterations',
  maxCalls: 'limits.calls',
  maxTimeMs: 'limits.timeMs',
  secret: 'conversationSecret',
  clock: 'testing.clock',
  ids: 'testing.ids',
  newId: 'testing.ids',
  sleep: 'testing.sleep',
}

const isPlain = (value: object) => Object.getPrototypeOf(value) === Object.prototype

const LAYERS = ['turn', 'dispatch', 'call']

/** An instance of a class may have functions of its own; in a plain object they are typing errors. */
function isMiddleware(value: unknown): boolean {
  if (!isObject(value)) return false
  const partOf = (name: string): unknown => Reflect.get(value, name)
  const isPart = (name: string) => partOf(name) === undefined || isFunction(partOf(name))
  const isStray = (name: string) => !LAYERS.includes(name) && isFunction(partOf(name))
  return LAYERS.every(isPart) && !(isPlain(value) && Object.keys(value).some(isStray))
}
