import { BobbinError } from '../core/error.ts'
import type { TrustTier } from '../core/trust.ts'
import { requireOptions, wrongInput } from '../core/wrong-input.ts'
import type { InferArguments, InputSchema } from '../tools/input-schema.ts'
import { Tool } from '../tools/tool.ts'
import type { ToolContext } from '../tools/tool-context.ts'
import { abandonLeft } from './abandon-nested.ts'
import { DOUBT_INSIDE } from './attempt-end.ts'
import { addUserMessage } from './begin-turn.ts'
import { EventBus } from './event-bus.ts'
import { doubtsIn } from './in-doubt.ts'
import {
  conversationInside,
  isNestedIn,
  linkOf,
  type NestedLink,
  setUpInside,
} from './nested-turn.ts'
import type { TurnOutcome } from './outcome.ts'
import { runTurn, type TurnPlan } from './run-turn.ts'
import {
  type RunnerSettings,
  runnerSettings,
  type TrustPolicy,
  type TurnRunnerOptions,
} from './runner-options.ts'
import type { Turn } from './turn.ts'
import type { FunctionalEvents, ObservedEvents } from './turn-events.ts'
import { abandonAll } from './unsettled.ts'

/** How deep turns may be nested in each other. */
const MAX_DEPTH = 3

/** A call that holds a whole turn takes longer than others. */
const NESTED_TIMEOUT_MS = 30 * 60_000

/** What it takes to make a turn a tool. */
export interface SubAgentOptions<S extends InputSchema = InputSchema> {
  readonly name: string
  readonly description: string
  /** Who does the work: the options of a runner. Store, secrets and `approve` are the outer turn's unless given. */
  readonly agent: TurnRunnerOptions
  /** What the tool takes; one text named `task` unless given. */
  readonly inputSchema?: S
  /** What the inner turn is told; the `task` unless given, and all arguments as JSON where there is none. */
  readonly message?: (args: InferArguments<S>) => string
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
 * A turn as a tool. Its conversation is named by the call's idempotency key, so that a second attempt goes
 * on where the first one ended; its gates surface in the turn around it.
 */
export function subAgent<const S extends InputSchema = InputSchema>(
  options: SubAgentOptions<S>,
): Tool {
  checkSubAgent(options)
  const { name, description, agent, trust, timeoutMs = NESTED_TIMEOUT_MS } = options
  const { inputSchema = TASK_SCHEMA } = options
  // Options that cannot work are found when the tool is made, not when it is first called.
  runnerSettings(agent)
  const messageOf = options.message as ((args: unknown) => string) | undefined
  const tool = new Tool({
    name,
    description,
    inputSchema,
    effect: 'idempotent',
    timeoutMs,
    ...(trust !== undefined && { trust }),
    handler: (args, ctx) => {
      const message = messageOf?.(args) ?? taskOf(args)
      return runNested(agent, message, ctx)
    },
  })
  setUpInside(tool, (outer) => nestedSettings(agent, outer))
  return tool
}

const OPTIONS = ['name', 'description', 'agent', 'inputSchema', 'message', 'trust', 'timeoutMs']

function checkSubAgent(options: unknown): void {
  requireOptions('subAgent', options, OPTIONS)
  const { message } = options as Readonly<Record<string, unknown>>
  if (message !== undefined && typeof message !== 'function') {
    throw wrongInput('subAgent', 'message', 'must be a function from arguments to a text')
  }
}

function taskOf(args: unknown): string {
  const { task } = args as { readonly task?: unknown }
  return typeof task === 'string' ? task : JSON.stringify(args)
}

async function runNested(
  agent: TurnRunnerOptions,
  message: string,
  ctx: ToolContext,
): Promise<string> {
  const { signal, idempotencyKey: conversation } = ctx
  const link = linkOf(signal)
  const outcome = link
    ? await runInside(link, agent, message, ctx)
    : await runTurn(runnerSettings(agent), buses(), { conversation, signal }, planOf(message))
  if (outcome.status === 'completed') return outcome.text
  // It stopped because it was told to, and in time.
  signal.throwIfAborted()
  if (link !== undefined) link.gates = outcome.gates
  const why = outcome.reason?.message ?? 'no reason was given.'
  throw new Error(`it ended ${outcome.status}: ${why}${link?.hasDoubts ? ` ${DOUBT_INSIDE}` : ''}`)
}

/** Runs the turn inside a call, which hears what it found and what it leaves behind. */
async function runInside(
  link: NestedLink,
  agent: TurnRunnerOptions,
  message: string,
  { signal, idempotencyKey }: ToolContext,
): Promise<TurnOutcome> {
  const { parent } = link
  link.isTurn = true
  if (parent.depth >= MAX_DEPTH) throw tooDeep()
  const settings = nestedSettings(agent, parent.settings)
  const conversation = conversationInside(parent.conversation.id, idempotencyKey)
  const isAgain = await isNestedIn(settings.store, conversation, parent.conversation.id)
  if (isAgain === false) throw notOurs(conversation)
  // What the attempt before left is unknown as long as this one has not told, and stays so if it cannot even begin.
  let isLeft = isAgain ?? false
  link.hasDoubts = isLeft
  link.abandon = () => undefined
  const onEnd = (turn: Turn) => {
    report(link, turn)
    isLeft = turn.conversation.isWaiting
  }
  try {
    const seed = { conversation, signal, parent }
    return await runTurn(settings, buses(parent), seed, { ...planOf(message), onEnd })
  } finally {
    link.abandon = () => abandonLeft(parent, settings, conversation, abandonAll, isLeft)
    // Given up while it ran, the call waits for nothing of this any more.
    if (link.isSettled) await link.abandon()
  }
}

/** The task is told once: it is there already when this is a second attempt. */
const planOf = (message: string): TurnPlan => ({
  policy: 'resume',
  async begin(turn) {
    if (turn.conversation.items.length === 0) await addUserMessage(turn, { message })
  },
})

/** What the inner turn read may be in what it says, and what it left in doubt is in doubt outside too. */
function report(link: NestedLink, { conversation }: Turn): void {
  link.trust = conversation.taint
  link.hasDoubts = doubtsIn(conversation).length > 0
}

/** Observers of the outer turn see the inner one too; its texts are not the outer turn's texts. */
function buses(parent?: Turn) {
  const none = () => {}
  return {
    content: new EventBus<FunctionalEvents>(none),
    observed: parent?.observed ?? new EventBus<ObservedEvents>(none),
  }
}

const STRICTNESS: readonly TrustPolicy[] = ['open', 'default', 'strict']

/** The inner turn's own settings, within those of the turn around it. */
function nestedSettings(agent: TurnRunnerOptions, outer: RunnerSettings): RunnerSettings {
  const { store, spool, approve, secret, secrets, clock, ids } = outer
  const own = runnerSettings({
    ...(agent.store === undefined && { store, spool }),
    ...(approve && { approve }),
    ...(secret && { secret }),
    ...(secrets && { secrets }),
    clock,
    ids,
    ...agent,
  })
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
    `the conversation \`${conversation}\` is there already and was not begun by this call. Rename one of them.`,
  )
}

function tooDeep(): BobbinError {
  const message = `Turns are nested ${MAX_DEPTH} deep at most: do this without another agent.`
  return new BobbinError('E_NESTED_TOO_DEEP', message, { limit: MAX_DEPTH })
}
