import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isBobbinError } from '../core/error.ts'
import { Message } from '../records/message.ts'
import type { Media } from '../spool/media.ts'
import { dispatch } from './dispatch.ts'
import { EventBus, type Listener } from './event-bus.ts'
import { decisionOf } from './gates.ts'
import { wrap } from './middleware.ts'
import { openTurn } from './open-turn.ts'
import type { StopReason, TurnOutcome } from './outcome.ts'
import { type RunnerSettings, runnerSettings, type TurnRunnerOptions } from './runner-options.ts'
import { type OutputSchema, outputOf } from './structured-output.ts'
import type { DispatchEnd, Turn } from './turn.ts'
import type {
  FunctionalEventName,
  FunctionalEvents,
  ObservedEventName,
  ObservedEvents,
} from './turn-events.ts'
import type { ResumeInput, TurnInput } from './turn-input.ts'
import { type TurnStream, turnStream } from './turn-stream.ts'
import { finishUnsettled, type UnsettledPolicy } from './unsettled.ts'

type OutputOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : unknown

/** Runs turns: from a message to an answer, every call on the way a settled record. */
export class TurnRunner {
  readonly #settings: RunnerSettings
  readonly #observed: EventBus<ObservedEvents>
  readonly #content: EventBus<FunctionalEvents>

  constructor(options: TurnRunnerOptions) {
    this.#settings = runnerSettings(options)
    // An observer of errors that fails itself is not told of its own failure.
    this.#observed = new EventBus((error, where, origin) => {
      if (where !== 'error') this.#observed.emit('error', { error, where }, origin)
    })
    this.#content = new EventBus((error, where, origin) =>
      this.#observed.emit('error', { error, where }, origin),
    )
  }

  /** Hears the content of turns; gives the way to stop. */
  on<Name extends FunctionalEventName>(
    name: Name,
    listener: Listener<FunctionalEvents[Name]>,
  ): () => void {
    return this.#content.on(name, listener)
  }

  /** Watches how turns go; removing every observer changes nothing. */
  observe<Name extends ObservedEventName>(
    name: Name,
    listener: Listener<ObservedEvents[Name]>,
  ): () => void {
    return this.#observed.on(name, listener)
  }

  /** Runs one turn to its end. It rejects only for input that cannot be used at all. */
  run<S extends OutputSchema = OutputSchema>(
    input: TurnInput<S>,
  ): Promise<TurnOutcome<OutputOf<S>>> {
    return this.#turn(input, 'abandon', (turn) => this.#begin(turn, input)) as Promise<
      TurnOutcome<OutputOf<S>>
    >
  }

  /** The same turn as an async iterable of its content; `outcome` is a promise on it. */
  stream<S extends OutputSchema = OutputSchema>(input: TurnInput<S>): TurnStream<OutputOf<S>> {
    return turnStream(this, input, (given) => this.run(given as TurnInput<S>))
  }

  /** Answers gates and goes on where the turn was suspended. A decision that does not hold is refused. */
  async resume(input: ResumeInput): Promise<TurnOutcome> {
    const { store } = this.#settings
    for (const answer of input.decisions) {
      const gate = await store.decideGate(input.conversation, answer.gate, decisionOf(answer))
      const origin = { turnId: gate.turnId, conversation: input.conversation }
      const { decidedBy } = answer
      this.#observed.emit('gateDecided', { gate, decision: gate.state, decidedBy }, origin)
    }
    return this.#turn(input, 'resume')
  }

  /** Picks up what a dead process left: finishes what is safe, surfaces what is in doubt, and goes on. */
  recover(input: {
    readonly conversation: string
    readonly signal?: AbortSignal
  }): Promise<TurnOutcome> {
    return this.#turn(input, 'recover')
  }

  async #begin(turn: Turn, input: TurnInput): Promise<void> {
    const { settings, conversation, results } = turn
    const attachments: Media[] = []
    for (const media of input.attachments ?? []) attachments.push(await media.spooled(results))
    const message = new Message({
      id: settings.ids(),
      role: 'user',
      ...(input.message !== '' && { content: input.message }),
      attachments,
      createdAt: settings.clock.now(),
    })
    await conversation.append([{ kind: 'message', turnId: turn.id, data: message.toJSON() }])
    conversation.items.push(await turn.presentation.message(message))
  }

  async #turn(
    input: {
      readonly conversation?: string
      readonly signal?: AbortSignal
      readonly output?: OutputSchema
    },
    policy: UnsettledPolicy,
    begin?: (turn: Turn) => Promise<void>,
  ): Promise<TurnOutcome> {
    const buses = { content: this.#content, observed: this.#observed }
    const opened = await openTurn(this.#settings, buses, input)
    const { turn } = opened
    try {
      return await runTurn(turn, input, policy, begin)
    } finally {
      await opened.close()
    }
  }
}

async function runTurn(
  turn: Turn,
  input: { readonly output?: OutputSchema },
  policy: UnsettledPolicy,
  begin?: (turn: Turn) => Promise<void>,
): Promise<TurnOutcome> {
  const layers = turn.settings.middleware.flatMap((each) =>
    each.turn ? [each.turn.bind(each)] : [],
  )
  return wrap(layers, turn.ctx, async () => {
    const { observed, origin, settings } = turn
    observed.emit('turnStart', { startedAt: turn.startedAt }, origin)
    const end = await guarded(turn, () => work(turn, policy, begin))
    const checked = await outputOf(end, input.output)
    await closeLog(turn, checked)
    const durationMs = settings.clock.now() - turn.startedAt
    observed.emit('turnEnd', { status: checked.status, durationMs }, origin)
    return outcomeOf(turn, checked)
  })
}

async function work(
  turn: Turn,
  policy: UnsettledPolicy,
  begin?: (turn: Turn) => Promise<void>,
): Promise<DispatchEnd> {
  const waits = await finishUnsettled(turn, policy)
  if (waits) return WAITING
  await begin?.(turn)
  const layers = turn.settings.middleware.flatMap((each) =>
    each.dispatch ? [each.dispatch.bind(each)] : [],
  )
  const { observed, origin } = turn
  observed.emit('dispatchStart', { tools: turn.settings.tools.names }, origin)
  let end: DispatchEnd = WAITING
  await wrap(layers, turn.ctx, async () => {
    end = await dispatch(turn)
  })
  observed.emit('dispatchEnd', { iterations: turn.iteration }, origin)
  return end
}

const WAITING: DispatchEnd = {
  status: 'suspended',
  text: '',
  reason: {
    code: 'GATE',
    message: 'The turn waits for a decision: answer `outcome.gates` with `runner.resume`.',
  },
}

/** Errors never hide: whatever escapes the work becomes the turn's end. */
async function guarded(turn: Turn, task: () => Promise<DispatchEnd>): Promise<DispatchEnd> {
  try {
    return await task()
  } catch (error) {
    turn.observed.emit('error', { error, where: 'turn' }, turn.origin)
    if (turn.signal.aborted) {
      return {
        status: 'aborted',
        text: '',
        reason: { code: 'ABORTED', message: 'The turn was aborted by its signal.' },
      }
    }
    const message = error instanceof Error ? error.message : String(error)
    return { status: 'failed', text: '', reason: { code: failureCode(error), message } }
  }
}

function failureCode(error: unknown): StopReason['code'] {
  if (!isBobbinError(error)) return 'EXECUTOR_FAILED'
  if (/^E_(STORE|STALE|CONVERSATION|DUPLICATE|SPOOL)/.test(error.code)) return 'STORE_FAILED'
  return /^E_(PROVIDER|STREAM)/.test(error.code) ? 'MODEL_FAILED' : 'EXECUTOR_FAILED'
}

async function closeLog(turn: Turn, { status, reason }: DispatchEnd): Promise<void> {
  try {
    const data = { status, ...(reason && { reason }) }
    await turn.conversation.append([{ kind: 'turn-end', turnId: turn.id, data }])
  } catch (error) {
    turn.observed.emit('error', { error, where: 'turn-end' }, turn.origin)
  }
}

async function outcomeOf(
  turn: Turn,
  end: DispatchEnd & { output?: unknown },
): Promise<TurnOutcome> {
  const { conversation, settings } = turn
  const gates = end.status === 'suspended' ? await settings.store.openGates(conversation.id) : []
  return {
    status: end.status,
    text: end.text,
    output: end.output,
    toolCalls: turn.order.flatMap((id) => turn.settled.get(id) ?? []),
    usage: turn.usage,
    conversation: conversation.id,
    turnId: turn.id,
    gates,
    ...(end.reason && { reason: end.reason }),
  }
}
