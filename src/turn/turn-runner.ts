import { notFound } from '../store/store-errors.ts'
import type { InferArguments } from '../tools/input-schema.ts'
import { addUserMessage, checkInput, checkRecover, checkResume } from './begin-turn.ts'
import { EventBus, type Listener } from './event-bus.ts'
import { checkListener } from './event-names.ts'
import { decisionsOf, gateDecided } from './gate-answer.ts'
import type { TurnOutcome } from './outcome.ts'
import { runTurn } from './run-turn.ts'
import { type RunnerSettings, runnerSettings, type TurnRunnerOptions } from './runner-options.ts'
import type { OutputSchema } from './structured-output.ts'
import type { Turn } from './turn.ts'
import type {
  FunctionalEventName,
  FunctionalEvents,
  ObservedEventName,
  ObservedEvents,
} from './turn-events.ts'
import type { RecoverInput, ResumeInput, TurnInput } from './turn-input.ts'
import { type TurnStream, turnStream } from './turn-stream.ts'

/** What an answer holds that fits the schema: read from it as a tool's arguments are. */
type AnswerOf<S extends OutputSchema> = InferArguments<S>

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
    checkListener('on', name, listener)
    return this.#content.on(name, listener)
  }

  /** Watches how turns go; removing every observer changes nothing. */
  observe<Name extends ObservedEventName>(
    name: Name,
    listener: Listener<ObservedEvents[Name]>,
  ): () => void {
    checkListener('observe', name, listener)
    return this.#observed.on(name, listener)
  }

  /**
   * Runs one turn to its end. It rejects only for input that cannot be used at all, and while another runner
   * holds the conversation.
   */
  async run<const S extends OutputSchema = OutputSchema>(
    input: TurnInput<S>,
  ): Promise<TurnOutcome<AnswerOf<S>>> {
    const seed = checkInput(input)
    const begin = (turn: Turn) => addUserMessage(turn, input)
    const outcome = await runTurn(this.#settings, this.#buses, seed, { policy: 'abandon', begin })
    return outcome as TurnOutcome<AnswerOf<S>>
  }

  /** The same turn as an async iterable of its content; `outcome` is a promise on it. */
  stream<const S extends OutputSchema = OutputSchema>(
    input: TurnInput<S>,
  ): TurnStream<AnswerOf<S>> {
    // Input that is none is refused in the loop, like every other, and in the same words.
    const isInput = typeof input === 'object' && (input as TurnInput | null) !== null
    const given = isInput ? input.conversation : undefined
    const conversation = given === undefined ? this.#settings.ids() : given
    return turnStream(this, { ...input, conversation }, (named) =>
      this.run(isInput ? (named as TurnInput<S>) : input),
    )
  }

  /** Answers gates and goes on where the turn was suspended. A decision that does not hold is refused. */
  async resume<const S extends OutputSchema = OutputSchema>(
    input: ResumeInput<S>,
  ): Promise<TurnOutcome<AnswerOf<S>>> {
    const seed = checkResume(input)
    const { conversation } = input
    const { store } = this.#settings
    await this.#requireConversation(conversation)
    const decisions = await decisionsOf(this.#settings, conversation, input.decisions)
    for (const [id, decision] of decisions) {
      const gate = await store.decideGate(conversation, id, decision)
      const origin = Object.freeze({ turnId: gate.turnId, conversation })
      this.#observed.emit('gateDecided', gateDecided(gate), origin)
    }
    const outcome = await runTurn(this.#settings, this.#buses, seed, { policy: 'resume' })
    return outcome as TurnOutcome<AnswerOf<S>>
  }

  /** Picks up what a dead process left: finishes what is safe, surfaces what is in doubt, and goes on. */
  async recover<const S extends OutputSchema = OutputSchema>(
    input: RecoverInput<S>,
  ): Promise<TurnOutcome<AnswerOf<S>>> {
    const seed = checkRecover(input)
    await this.#requireConversation(input.conversation)
    const outcome = await runTurn(this.#settings, this.#buses, seed, { policy: 'recover' })
    return outcome as TurnOutcome<AnswerOf<S>>
  }

  get #buses() {
    return { content: this.#content, observed: this.#observed }
  }

  /** Going on with a conversation must not make a new one by a slip of its name. */
  async #requireConversation(id: string): Promise<void> {
    const known = await this.#settings.store.conversation(id)
    if (known === undefined) throw notFound('conversation', id)
  }
}
