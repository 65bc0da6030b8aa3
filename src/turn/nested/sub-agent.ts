import { BobbinError } from '../../core/error/error.ts'
import { requireOptions, wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { TrustTier } from '../../core/trust.ts'
import { conversationInside } from '../../store/core/nested-conversations.ts'
import type { Gate, GateRequest } from '../../store/gate.ts'
import type { InferArguments, InputSchema } from '../../tools/input-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolContext, ToolOutput } from '../../tools/tool-context.ts'
import {
  type CallSite,
  callSite,
  type InheritedSettings,
  type InnerTurn,
  type OuterTurn,
} from '../call/inner-turn.ts'
import type { TrustPolicy } from '../call/trust-policy.ts'
import { EventBus } from '../events/event-bus.ts'
import type { FunctionalEvents, ObservedEvents } from '../events/turn-events.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import { addUserMessage } from '../loop/begin-turn.ts'
import type { TurnSeed } from '../loop/open-turn.ts'
import { runTurn, type TurnPlan } from '../loop/run-turn.ts'
import { type OutputRequest, type OutputShape, outputShape } from '../loop/structured-output.ts'
import type { Turn } from '../loop/turn.ts'
import {
  type RunnerSettings,
  runnerSettings,
  type TurnRunnerOptions,
} from '../options/runner-options.ts'
import { AgentTool } from './agent-tool.ts'
import { innerTurns, isNestedIn, leaveInside, mayHaveEffects } from './inner-turns.ts'

/** How deep turns may be nested. */
const MAX_DEPTH = 3

/** A whole turn takes longer than an ordinary call. */
const NESTED_TIMEOUT_MS = 30 * 60_000

/** The options of a sub-agent. */
export interface SubAgentOptions<S extends InputSchema = InputSchema> {
  readonly name: string
  readonly description: string
  /** Who does the work: the options of a runner. Store, secrets and `approve` are the outer turn's unless given. */
  readonly agent: TurnRunnerOptions
  /** The tool's input schema; one text named `task` unless given. */
  readonly inputSchema?: S
  /** The message for the inner turn; by default the `task`, or all arguments as JSON without one. */
  readonly message?: (args: InferArguments<S>) => string
  /** The schema of its answer, or `{ schema, attempts }`: the call then gives JSON instead of text. */
  readonly output?: OutputRequest
  readonly trust?: TrustTier
  readonly timeoutMs?: number
}

const TASK_SCHEMA = {
  type: 'object',
  properties: { task: { type: 'string', description: 'What to do, with everything it takes.' } },
  required: ['task'],
  additionalProperties: false,
} as const

/**
 * A turn as a tool. The call's idempotency key names its conversation, so that a second attempt continues the first one. Its
 * gates become gates of the outer turn.
 */
export function subAgent<const S extends InputSchema = InputSchema>(
  options: SubAgentOptions<S>,
): Tool {
  checkSubAgent(options)
  const { name, description, agent, trust, timeoutMs = NESTED_TIMEOUT_MS } = options
  const { inputSchema = TASK_SCHEMA } = options
  // Check the options when the tool is made, not when it is first called.
  runnerSettings(agent, innerTurns)
  const output = options.output === undefined ? undefined : outputShape(options.output)
  const messageOf = options.message as ((args: unknown) => string) | undefined
  return new AgentTool(
    {
      name,
      description,
      inputSchema,
      effect: 'idempotent',
      timeoutMs,
      ...(trust !== undefined && { trust }),
      handler: (args, ctx) => {
        const message = messageOf?.(args) ?? taskOf(args)
        return runNested(agent, { message, output }, ctx)
      },
    },
    (outer) => nestedSettings(agent, outer),
  )
}

const OPTIONS = [
  'name',
  'description',
  'agent',
  'inputSchema',
  'message',
  'output',
  'trust',
  'timeoutMs',
]

function checkSubAgent(options: unknown): void {
  requireOptions('subAgent', options, OPTIONS)
  const { message, agent } = options as Readonly<Record<string, unknown>>
  const { mayDecide } = Object(agent) as Partial<TurnRunnerOptions>
  // Ignoring it would let people decide who may not.
  if (mayDecide !== undefined) {
    throw wrongInput(
      'subAgent',
      'agent.mayDecide',
      'belongs to the runner that `resume` is called on',
    )
  }
  if (message !== undefined && typeof message !== 'function') {
    throw wrongInput('subAgent', 'message', 'must be a function from arguments to a text')
  }
}

function taskOf(args: unknown): string {
  const { task } = args as { readonly task?: unknown }
  return typeof task === 'string' ? task : JSON.stringify(args)
}

interface NestedInput {
  readonly message: string
  readonly output: OutputShape | undefined
}

async function runNested(
  agent: TurnRunnerOptions,
  { message, output }: NestedInput,
  ctx: ToolContext,
): Promise<ToolOutput> {
  const { signal, idempotencyKey: conversation } = ctx
  const site = callSite(ctx)
  const inner = site && new TurnInside(site, agent, conversation)
  const outcome = inner
    ? await inner.run({ message, output }, signal)
    : await runAlone(agent, planOf(message), { conversation, signal, output })
  if (outcome.status === 'completed') {
    return output === undefined ? outcome.text : (outcome.output as ToolOutput)
  }
  // The abort of the outer call ended it.
  signal.throwIfAborted()
  inner?.waitFor(outcome.gates)
  const why = outcome.reason?.message ?? 'no reason was given.'
  throw new Error(`it ended ${outcome.status}: ${why}`)
}

/** Runs the agent of a tool that is executed without a turn around it. */
function runAlone(
  agent: TurnRunnerOptions,
  plan: TurnPlan,
  seed: Pick<TurnSeed, 'conversation' | 'signal' | 'output'>,
): Promise<TurnOutcome> {
  const settings = runnerSettings(agent, innerTurns)
  return runTurn(settings, buses(), { turnId: settings.ids(), ...seed }, plan)
}

/** A turn inside a call. It reports its gates, its trust and its doubts to the call. */
class TurnInside implements InnerTurn {
  gates: readonly GateRequest[] = []
  trust: TrustTier = 'developer'
  hasDoubts: boolean
  readonly #outer: OuterTurn
  readonly #settings: RunnerSettings
  readonly #conversation: string
  /** Whether calls in it have no record. */
  #isLeft = false
  #isRunning = false
  #isLeave = false

  constructor(site: CallSite, agent: TurnRunnerOptions, key: string) {
    this.#outer = site.outer
    // Until this attempt ends, the effects of an earlier one are unknown.
    this.hasDoubts = site.mayHaveRun
    site.enter(this)
    if (this.#outer.depth >= MAX_DEPTH) throw tooDeep()
    this.#settings = nestedSettings(agent, this.#outer.settings)
    this.#conversation = conversationInside(this.#outer.origin.conversation, key)
  }

  async run({ message, output }: NestedInput, signal: AbortSignal): Promise<TurnOutcome> {
    const [settings, conversation, parent] = [this.#settings, this.#conversation, this.#outer]
    const isAgain = await isNestedIn(settings.store, conversation, parent)
    if (isAgain === false) throw notOurs(conversation)
    // Until this attempt ends, assume that an earlier one left open calls.
    this.#isLeft = isAgain ?? false
    this.hasDoubts = this.#isLeft
    this.#isRunning = true
    const onEnd = (turn: Turn) => {
      // The answer may contain anything that the inner turn has read, and its effects are effects of the call.
      this.trust = turn.log.state.taint
      this.hasDoubts = mayHaveEffects(turn)
      this.#isLeft = turn.log.state.open.size > 0
    }
    try {
      const seed = { conversation, turnId: settings.ids(), signal, parent, output }
      return await runTurn(settings, buses(parent), seed, { ...planOf(message), onEnd })
    } finally {
      this.#isRunning = false
      // The call was given up while the turn ran.
      if (this.#isLeave) await this.leave()
    }
  }

  /** Makes the gates of the turn gates of the call. */
  waitFor(gates: readonly Gate[]): void {
    this.gates = gates.map((gate) => surfaced(gate, this.#settings.ids()))
  }

  async leave(): Promise<void> {
    this.#isLeave = true
    if (this.#isRunning) return
    await leaveInside(this.#outer, this.#settings, this.#conversation, this.#isLeft)
  }
}

function surfaced(gate: Gate, id: string): GateRequest {
  const { kind, from, because, tool, args, digest, expiresAt, conversation } = gate
  const { message, schema, idempotencyKey } = gate
  const url = gate.context?.['url']
  const { definition, tainted } = gate.context ?? {}
  const context: JsonObject = {
    ...(url !== undefined && { url }),
    ...(definition !== undefined && { definition }),
    ...(tainted !== undefined && { tainted }),
    conversation,
    gate: gate.id,
  }
  return {
    id,
    kind,
    from,
    ...(because !== undefined && { because }),
    ...(tool !== undefined && { tool }),
    ...(args !== undefined && { args }),
    ...(message !== undefined && { message }),
    ...(schema !== undefined && { schema }),
    ...(gate.url !== undefined && { url: gate.url }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    digest,
    expiresAt,
    context,
  }
}

/** A second attempt does not add the task again. */
const planOf = (message: string): TurnPlan => ({
  way: 'resume',
  async begin(turn) {
    if (turn.request.history.items.length === 0) await addUserMessage(turn, { message })
  },
})

/** Observers of the outer turn see the inner one too. Its content is not content of the outer turn. */
function buses(parent?: OuterTurn) {
  const none = () => {}
  return {
    content: new EventBus<FunctionalEvents>(none),
    observed: parent?.observed ?? new EventBus<ObservedEvents>(none),
  }
}

const STRICTNESS: readonly TrustPolicy[] = ['open', 'default', 'strict']

/** The inner turn's settings. Policy and budget are never looser than the outer turn's. */
function nestedSettings(agent: TurnRunnerOptions, given: InheritedSettings): RunnerSettings {
  const outer = given as RunnerSettings
  const { store, spool, approve, conversationSecret, secrets, clock, ids, capture, telemetry } =
    outer
  const prices = { ...outer.prices, ...agent.prices }
  const options = {
    ...(agent.store === undefined && { store, spool }),
    ...(approve && { approve }),
    ...(conversationSecret && { conversationSecret }),
    ...(secrets && { secrets }),
    ...(telemetry && { telemetry }),
    ...agent,
    // A grant for a subject is given in the outer turn.
    ...(outer.subject && { subject: outer.subject }),
    ...(outer.prices && { prices }),
    ...(capture === 'digests' && { capture }),
    testing: { clock, ids, ...agent.testing },
  } as TurnRunnerOptions
  const own = runnerSettings(options, innerTurns)
  const policy = agent.policy === undefined ? outer.policy : stricter(agent.policy, outer.policy)
  return { ...own, policy, budget: smaller(own.budget, outer.budget) }
}

function stricter(a: TrustPolicy, b: TrustPolicy): TrustPolicy {
  return STRICTNESS.indexOf(a) >= STRICTNESS.indexOf(b) ? a : b
}

function smaller(a: RunnerSettings['budget'], b: RunnerSettings['budget']) {
  if (a === undefined || b === undefined) return a ?? b
  return a.maxTokens <= b.maxTokens ? a : b
}

function notOurs(conversation: string): Error {
  return new Error(
    `the conversation \`${conversation}\` exists already and was not started by this call. Rename one of them.`,
  )
}

function tooDeep(): BobbinError {
  const message = `Turns are nested ${MAX_DEPTH} deep at most: do this without another agent.`
  return new BobbinError('E_NESTED_TOO_DEEP', message, { limit: MAX_DEPTH })
}
