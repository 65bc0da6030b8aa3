import { type FeedSource, feedIteration } from '../store/feed/feed.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { type FollowInput, restoreFrom } from '../store/feed/follow.ts'
import { followChecked } from '../store/feed/follow-conversation.ts'
import { liveFeed } from '../store/feed/live-feed.ts'
import { type StopInput, stopTurn } from '../store/feed/stop-turn.ts'
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
import { decisionsOf, outputsOf } from './gates/gate-answer.ts'
import { requireAllowed } from './gates/may-decide.ts'
import type { TurnOutcome } from './limits/outcome.ts'
import {
  checkInput,
  checkRecover,
  checkRegenerate,
  checkResume,
  checkUndo,
} from './loop/begin-turn.ts'
import type { TurnControl, TurnPlace, TurnSeed } from './loop/open-turn.ts'
import { runTurn } from './loop/run-turn.ts'
import type { OutputSchema } from './loop/structured-output.ts'
import type {
  RecoverInput,
  RegenerateInput,
  ResumeInput,
  TurnInput,
  UndoInput,
} from './loop/turn-input.ts'
import { undoPlan, undoSkippedPlan } from './loop/undo-call.ts'
import { requirePricesInside } from './nested/agent-tool.ts'
import { innerTurns, outermostConversation } from './nested/inner-turns.ts'
import {
  type RunnerSettings,
  runnerSettings,
  type TurnRunnerOptions,
} from './options/runner-options.ts'
import type { SubmitScope } from './submit/join-turn.ts'
import { recoverTurn, startTurn } from './submit/start-turn.ts'
import { type TurnHandle, turnHandle } from './turn-handle.ts'

/** The type of an answer that fits the schema. */
type AnswerOf<S extends OutputSchema> = InferArguments<S>

/** How a handle reaches its turn. */
function turnControl(input: unknown): TurnControl {
  const abort = new AbortController()
  const { turnId, whenBusy } = Object(input) as Partial<TurnInput>
  if (turnId === undefined && whenBusy === undefined) return { abort, openedAt: undefined }
  let found = () => {}
  const whenFound = new Promise<void>((resolve) => {
    found = resolve
  })
  return { abort, openedAt: undefined, whenFound, found }
}

/** The settings of a runner, for the parts of this package that run its turns elsewhere. */
export let settingsOf: <Context>(runner: TurnRunner<Context>) => RunnerSettings

/** Runs turns: from a message to an answer, every call on the way a settled record. */
export class TurnRunner<Context = unknown> {
  readonly #settings: RunnerSettings
  readonly #observed: EventBus<ObservedEvents>
  readonly #content: EventBus<FunctionalEvents>

  static {
    settingsOf = (runner) => runner.#settings
  }

  constructor(options: TurnRunnerOptions<Context>) {
    this.#settings = runnerSettings(options as TurnRunnerOptions, innerTurns)
    requirePricesInside(this.#settings)
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
  run<const S extends OutputSchema = OutputSchema>(
    input: TurnInput<S, Context>,
  ): TurnHandle<AnswerOf<S>> {
    return this.#start<S>(input, async (place) => {
      const seed = { ...checkInput(input), ...place }
      return startTurn(this.#scope(place.conversation), seed, { ...input, context: seed.context })
    })
  }

  /** The same as `run`. */
  stream<const S extends OutputSchema = OutputSchema>(
    input: TurnInput<S, Context>,
  ): TurnHandle<AnswerOf<S>> {
    return this.run(input)
  }

  /**
   * Takes the last message of a user back, with all that came after it, and asks it again, or asks another one. Rejects with
   * `E_EFFECTS_WOULD_REPEAT` when that would skip calls that may have changed something.
   */
  regenerate<const S extends OutputSchema = OutputSchema>(
    input: RegenerateInput<S, Context>,
  ): TurnHandle<AnswerOf<S>> {
    return this.#start<S>(input, async (place) => {
      const seed = { ...checkRegenerate(input), ...place }
      await this.#requireConversation(input.conversation)
      const waits = input.undo ? await this.#undoSkipped(seed, input.turnId) : undefined
      if (waits !== undefined) return waits
      const { message = '', redoEffects = false } = input
      const about = { ...input, message, context: seed.context, regenerate: { redoEffects } }
      return startTurn(this.#scope(place.conversation), seed, about)
    })
  }

  /**
   * Answers gates and continues the suspended turn. Invalid decisions are refused. A decision on the gate of a sub-agent
   * continues the outermost turn: outcome and events are that turn's.
   */
  resume<const S extends OutputSchema = OutputSchema>(
    input: ResumeInput<S>,
  ): TurnHandle<AnswerOf<S>> {
    const { store } = this.#settings
    const run = async (place: TurnPlace) => {
      const seed = { ...checkResume(input), ...place }
      const { conversation, decisions } = input
      await this.#requireConversation(conversation)
      const checked = await decisionsOf(this.#settings, conversation, decisions)
      await requireAllowed(this.#settings, checked.values())
      for (const [id, { decision }] of checked) await store.decideGate(conversation, id, decision)
      // The turn inside a call continues through the turn around it, which has the tools and waits for it.
      const outermost = await outermostConversation(store, conversation)
      const start = { ...seed, conversation: outermost, outputs: outputsOf(checked) }
      return runTurn(this.#settings, this.#buses, start, { way: 'resume' })
    }
    return this.#start<S>(input, run, (conversation) => outermostConversation(store, conversation))
  }

  /** Continues after a crash: finishes what is safe, settles the rest as in doubt, then continues the turn. */
  recover<const S extends OutputSchema = OutputSchema>(
    input: RecoverInput<S>,
  ): TurnHandle<AnswerOf<S>> {
    return this.#start<S>(input, async (place) => {
      const seed = { ...checkRecover(input), ...place }
      await this.#requireConversation(input.conversation)
      return recoverTurn(this.#scope(input.conversation), seed)
    })
  }

  /**
   * Undoes a call, in a turn of its own that asks no model. A call that cannot be undone is refused with `E_CANNOT_UNDO`.
   * The next turn tells the model.
   */
  undo(input: UndoInput<Context>): TurnHandle {
    return this.#start(input, async (place) => {
      const seed = { ...checkUndo(input), ...place, keepsContext: true }
      await this.#requireConversation(input.conversation)
      let refused: unknown
      const plan = undoPlan(input, (error) => {
        refused = error
      })
      const outcome = await runTurn(this.#settings, this.#buses, seed, plan)
      if (refused !== undefined) throw refused as Error
      return outcome
    })
  }

  /** Undoes what `regenerate` skips; gives the outcome if that is not done. A turn that is known was prepared before. */
  async #undoSkipped(seed: TurnSeed, known: string | undefined): Promise<TurnOutcome | undefined> {
    const { store, ids } = this.#settings
    const { conversation, control, ...wishes } = seed
    const isKnown = known !== undefined && (await store.get(conversation, 'turn-start', known))
    if (isKnown) return undefined
    const signals = [wishes.signal, control?.abort.signal].filter((signal) => signal !== undefined)
    const own = { ...wishes, conversation, turnId: ids(), signal: AbortSignal.any(signals) }
    let refused: unknown
    const plan = undoSkippedPlan((error) => {
      refused = error
    })
    const outcome = await runTurn(this.#settings, this.#buses, { ...own, keepsContext: true }, plan)
    if (refused !== undefined) throw refused as Error
    return outcome.status === 'completed' ? undefined : outcome
  }

  /** Starts a turn at once. It never throws: if the turn cannot start, the outcome rejects. */
  #start<S extends OutputSchema>(
    input: unknown,
    run: (place: TurnPlace) => Promise<TurnOutcome>,
    locate?: (conversation: string) => Promise<string>,
  ): TurnHandle<AnswerOf<S>> {
    const { ids } = this.#settings
    const control = turnControl(input)
    let place = { conversation: '', turnId: '' }
    const begun = (async () => {
      const { conversation = ids() } = Object(input) as { readonly conversation?: string }
      const isName = typeof conversation === 'string'
      const { turnId = ids() } = Object(input) as { readonly turnId?: unknown }
      const id = typeof turnId === 'string' ? turnId : ''
      place = { conversation: isName ? conversation : '', turnId: id }
      return run({ ...place, control })
    })()
    const source = () => {
      const { conversation } = place
      const here = () => this.#source(conversation)
      // Only a name with a slash can be that of a turn inside a call.
      if (locate === undefined || !conversation.includes('/')) return here()
      return locate(conversation).then((outermost) => this.#source(outermost), here)
    }
    const outcome = begun as Promise<TurnOutcome<AnswerOf<S>>>
    return turnHandle(outcome, { ...place, control, source })
  }

  /**
   * Everything that happens in a conversation, in any process: the entries after a position, then a snapshot of the
   * open texts, then live events. It ends when the conversation rests.
   */
  follow(input: FollowInput): AsyncIterableIterator<FeedEvent, void> {
    return feedIteration((signal) => followChecked(input, signal, (id) => this.#source(id)))
  }

  /**
   * Asks the turn that holds a conversation to stop, in whatever process it runs. Resolves when the request is stored;
   * `undefined` means that nothing ran.
   */
  async stop(input: StopInput): Promise<{ readonly turnId: string } | undefined> {
    return stopTurn(this.#settings.store, input)
  }

  #source(conversation: string): FeedSource {
    const { store, spool, artifacts, clock } = this.#settings
    return {
      store,
      conversation,
      live: () => liveFeed(store, conversation),
      restore: restoreFrom(store, spool, artifacts),
      now: () => clock.now(),
    }
  }

  #scope(conversation: string): SubmitScope {
    return {
      settings: this.#settings,
      buses: this.#buses,
      source: this.#source(conversation),
    }
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
