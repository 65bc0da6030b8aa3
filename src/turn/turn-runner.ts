import { notFound } from '../store/store-errors.ts'
import type { InferArguments } from '../tools/input-schema.ts'
import { EventBus, type Listener } from './events/event-bus.ts'
import { checkListener } from './events/event-names.ts'
import type {
  FunctionalEventName,
  FunctionalEvents,
  ObservedEventName,
  ObservedEvents,
} from './events/turn-events.ts'
import { decisionsOf, gateDecided } from './gates/gate-answer.ts'
import type { TurnOutcome } from './limits/outcome.ts'
import { addUserMessage, checkInput, checkRecover, checkResume } from './loop/begin-turn.ts'
import { runTurn } from './loop/run-turn.ts'
import type { OutputSchema } from './loop/structured-output.ts'
import type { Turn } from './loop/turn.ts'
import type { RecoverInput, ResumeInput, TurnInput } from './loop/turn-input.ts'
import { innerTurns } from './nested/inner-turns.ts'
import {
  type RunnerSettings,
  runnerSettings,
  type TurnRunnerOptions,
} from './options/runner-options.ts'
import { type TurnStream, turnStream } from './turn-stream.ts'

/** The type of an answer that fits the schema. */
type AnswerOf<S extends OutputSchema> = InferArguments<S>

/** Runs turns: from a message to an answer, every call on the way a settled record. */
export class TurnRunner {
  readonly #settings: RunnerSettings
  readonly #observed: EventBus<ObservedEvents>
  readonly #content: EventBus<FunctionalEvents>

  constructor(options: TurnRunnerOptions) {
    this.#settings = runnerSettings(options, innerTurns)
    // An `error` observer that throws does not get its own error.
    this.#observed = new EventBus((error, where, origin) => {
      if (where !== 'error') this.#observed.emit('error', { error, where }, origin)
    })
    this.#content = new EventBus((error, where, origin) =>
      this.#observed.emit('error', { error, where }, origin),
    )
  }

  /** Listens to the content of turns; returns a function that stops it. */
  on<Name extends FunctionalEventName>(
    name: Name,
    listener: Listener<FunctionalEvents[Name]>,
  ): () => void {
    checkListener('on', name, listener)
    return this.#content.on(name, listener)
  }

  /** Observes turns. Removing every observer changes nothing. Returns a function that stops it. */
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
    const outcome = await runTurn(this.#settings, this.#buses, seed, { way: 'run', begin })
    return outcome as TurnOutcome<AnswerOf<S>>
  }

  /** The same turn as an async iterable of its content; `outcome` is a promise on it. */
  stream<const S extends OutputSchema = OutputSchema>(
    input: TurnInput<S>,
  ): TurnStream<AnswerOf<S>> {
    // Non-object input throws inside the loop, with the same error as any other invalid input.
    const isInput = typeof input === 'object' && (input as TurnInput | null) !== null
    const given = isInput ? input.conversation : undefined
    const conversation = given === undefined ? this.#settings.ids() : given
    return turnStream(this, { ...input, conversation }, (named) =>
      this.run(isInput ? (named as TurnInput<S>) : input),
    )
  }

  /** Answers gates and continues the suspended turn. Invalid decisions are refused. */
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
    const outcome = await runTurn(this.#settings, this.#buses, seed, { way: 'resume' })
    return outcome as TurnOutcome<AnswerOf<S>>
  }

  /** Continues after a crash: finishes what is safe, settles the rest as in doubt, then continues the turn. */
  async recover<const S extends OutputSchema = OutputSchema>(
    input: RecoverInput<S>,
  ): Promise<TurnOutcome<AnswerOf<S>>> {
    const seed = checkRecover(input)
    await this.#requireConversation(input.conversation)
    const outcome = await runTurn(this.#settings, this.#buses, seed, { way: 'recover' })
    return outcome as TurnOutcome<AnswerOf<S>>
  }

  get #buses() {
    return { content: this.#content, observed: this.#observed }
  }

  /** Refuses an unknown conversation: a typing error must not create a new one. */
  async #requireConversation(id: string): Promise<void> {
    const known = await this.#settings.store.conversation(id)
    if (known === undefined) throw notFound('conversation', id)
  }
}
