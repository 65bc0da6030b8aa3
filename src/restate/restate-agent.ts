import {
  CancelledError,
  handlers,
  type ObjectContext,
  type ObjectSharedContext,
  object,
  type Serde,
  serde,
} from '@restatedev/restate-sdk'
import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { StopInput } from '../store/feed/stop-turn.ts'
import type { Gate } from '../store/gate.ts'
import type { HistoryQuery, Store } from '../store/store.ts'
import type { TurnOutcome } from '../turn/limits/outcome.ts'
import { outermostConversation } from '../turn/nested/inner-turns.ts'
import { settingsOf, TurnRunner } from '../turn/turn-runner.ts'
import {
  type AgentStatus,
  answered,
  type EngineAnswer,
  type EngineOutcome,
  type EngineRecover,
  type EngineRegenerate,
  type EngineResume,
  type EngineRun,
  type EngineUndo,
  engineOutcome,
} from './engine-messages.ts'
import { type Attempt, engineTurns } from './engine-turns.ts'
import { addWithResolvers } from './with-resolvers.ts'

/** Which agent the engine serves, and under which name. */
export interface RestateAgentOptions<Name extends string = string, Context = unknown> {
  /** The name of the virtual object; clients use the same. */
  readonly name: Name
  /** Its store must be one that all workers reach, such as `postgresStore`. */
  readonly runner: TurnRunner<Context>
}

/** A virtual object for `endpoint().bind(…)`. The SDK's own types do not pass every compiler setting, so that this is ours. */
export interface RestateAgent<Name extends string = string> {
  name: Name
}

/** How long a turn may run without a word to the engine. */
const LONGEST_TURN = { days: 7 }
/** How long a cancelled turn may need to end. */
const CANCEL_MS = 10_000

/**
 * A virtual object of Restate that runs the turns of a conversation: one at a time, in the order in which they were asked
 * for. Nothing of a turn is stored in the engine while it runs. A handler that is started again recovers the turn.
 */
export function restateAgent<const Name extends string, Context = unknown>(
  options: RestateAgentOptions<Name, Context>,
): RestateAgent<Name> {
  requireOptions('restateAgent', options, ['name', 'runner'])
  const { name, runner } = options
  if (typeof name !== 'string' || !/^[A-Za-z][\w.-]{0,99}$/.test(name)) {
    const rule = 'must be up to 100 letters, digits and `. _ -`, and begin with a letter'
    throw wrongInput('restateAgent', 'name', rule)
  }
  if (!(runner instanceof TurnRunner)) {
    throw wrongInput('restateAgent', 'runner', 'must be a TurnRunner')
  }
  const { store } = settingsOf(runner)
  if (!store.durable) {
    const rule = 'must have a store that other processes reach, such as `postgresStore`'
    throw wrongInput('restateAgent', 'runner', rule)
  }
  addWithResolvers()
  const turns = engineTurns(runner)

  /** Runs a turn in a step, so that a cancellation reaches it, and sets a timer for its gates. */
  async function turn(
    ctx: ObjectContext,
    work: (attempt: Attempt) => Promise<TurnOutcome | undefined>,
  ): Promise<EngineAnswer> {
    const conversation = ctx.key
    let isFirst = false
    const length = await ctx.run('begin', async () => {
      isFirst = true
      // What the store refuses for good, the turn refuses as well, with an answer.
      const found = await answered(async () => (await store.conversation(conversation))?.length)
      return ('given' in found ? found.given : undefined) ?? 0
    })
    let working: Promise<unknown> = Promise.resolve()
    const step = ctx.run('turn', () => {
      const running = answered(async () => {
        const outcome = await work({ conversation, isFirst, length })
        // No outcome means that no gate has expired yet by the clock of this machine.
        const gates = outcome === undefined ? await store.openGates(conversation) : openIn(outcome)
        return { outcome: outcome && engineOutcome(outcome), wakeIn: untilExpiry(gates) }
      })
      working = running.catch(() => undefined)
      return running
    })
    let answer: Awaited<typeof step>
    try {
      answer = await step
    } catch (error) {
      if (error instanceof CancelledError) {
        await runner.stop({ conversation })
        await Promise.race([working, new Promise((resolve) => setTimeout(resolve, CANCEL_MS))])
      }
      throw error
    }
    if ('refused' in answer) return answer
    // The answer of an earlier version may be empty.
    const { outcome, wakeIn } = Object(answer.given) as Partial<typeof answer.given>
    if (wakeIn !== undefined) {
      const timer = { service: name, method: 'expire', key: conversation, delay: wakeIn }
      ctx.genericSend({ ...timer, parameter: null, inputSerde: serde.json as Serde<null> })
    }
    return { given: outcome as EngineOutcome }
  }

  /** Turns inside calls continue through the turn around them. */
  async function resume(ctx: ObjectContext, input: EngineResume): Promise<EngineAnswer> {
    const outermost = await ctx.run('place', async () => {
      const found = await answered(() => outermostConversation(store, ctx.key))
      return 'given' in found ? found.given : ctx.key
    })
    if (outermost === ctx.key)
      return turn(ctx, (attempt) => turns.resume(attempt, Object(input) as EngineResume))
    return ctx.genericCall<EngineResume, EngineAnswer>({
      service: name,
      method: 'resume',
      key: outermost,
      parameter: { ...input, conversation: ctx.key },
      inputSerde: serde.json as Serde<EngineResume>,
      outputSerde: serde.json as Serde<EngineAnswer>,
    })
  }

  return object({
    name,
    handlers: {
      run: (ctx: ObjectContext, input: EngineRun) =>
        turn(ctx, (attempt) => turns.run(attempt, Object(input) as EngineRun)),
      resume,
      recover: (ctx: ObjectContext, input: EngineRecover = {}) =>
        turn(ctx, (attempt) => turns.recover(attempt, input ?? {})),
      regenerate: (ctx: ObjectContext, input: EngineRegenerate) =>
        turn(ctx, (attempt) => turns.regenerate(attempt, Object(input) as EngineRegenerate)),
      undo: (ctx: ObjectContext, input: EngineUndo) =>
        turn(ctx, (attempt) => turns.undo(attempt, input)),
      /** Called by its own timers. */
      expire: handlers.object.exclusive({ ingressPrivate: true }, (ctx: ObjectContext) =>
        turn(ctx, (attempt) => turns.expire(attempt)),
      ),
      stop: handlers.object.shared(
        (ctx: ObjectSharedContext, input: Omit<StopInput, 'conversation'> | undefined) =>
          answered(async () => (await runner.stop({ ...input, conversation: ctx.key })) ?? null),
      ),
      history: handlers.object.shared(
        (ctx: ObjectSharedContext, input: Omit<HistoryQuery, 'conversation'> | undefined) =>
          answered(async () => {
            const page = await (store as Store).history({ ...input, conversation: ctx.key })
            return JSON.parse(JSON.stringify(page)) as JsonValue
          }),
      ),
      status: handlers.object.shared((ctx: ObjectSharedContext) =>
        answered(async (): Promise<AgentStatus> => {
          const info = await store.conversation(ctx.key)
          return {
            conversation: ctx.key,
            exists: info !== undefined,
            isRunning: info?.holder !== undefined,
            length: info?.length ?? 0,
            gates: info === undefined ? [] : await store.openGates(ctx.key),
          }
        }),
      ),
    },
    options: {
      inactivityTimeout: LONGEST_TURN,
      abortTimeout: LONGEST_TURN,
      // The engine's own limit of attempts pauses a turn for good after two minutes without a database.
      retryPolicy: {
        initialInterval: 100,
        maxInterval: 2000,
        exponentiationFactor: 2,
        maxAttempts: Number.MAX_SAFE_INTEGER,
      },
    },
  })
}

const openIn = ({ status, gates }: TurnOutcome) => (status === 'suspended' ? gates : [])

/** Milliseconds until the first of the gates expires. */
function untilExpiry(gates: readonly Gate[]): number | undefined {
  const times = gates.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [expiresAt]))
  if (times.length === 0) return undefined
  // A moment later, so that the clocks of other machines agree that it has expired.
  return Math.max(0, Math.min(...times) - Date.now()) + EXPIRY_MARGIN_MS
}

const EXPIRY_MARGIN_MS = 100
