import { BobbinError, isBobbinError } from '../../core/error/error.ts'
import { runningTurn } from '../../store/feed/turn-chain.ts'
import type { QueuedRow } from '../../store/feed-driver.ts'
import { notFound } from '../../store/store-errors.ts'
import type { TurnOutcome } from '../limits/outcome.ts'
import { ownKey, type TurnSeed } from '../loop/open-turn.ts'
import { inputDigest, queuedBody, queuedInput, type Submitted } from '../loop/queued-input.ts'
import { runTurn } from '../loop/run-turn.ts'
import { beginInput } from './begin-input.ts'
import {
  joinTurn,
  notWaited,
  requireSameInput,
  requireSameText,
  type SubmitScope,
} from './join-turn.ts'

/** What to do while another turn holds the conversation. */
export type WhenBusy = 'refuse' | 'queue' | 'steer'

/** How many messages may wait for a conversation. */
const MAX_QUEUED = 100
/** How long a row says that its caller lives, and how often a caller looks. */
const ALIVE_MS = 15_000
const LOOK_MS = 150
/** How long a turn that was just taken may need until its first entry is stored. */
const STARTING_MS = 5_000

/** A message for a conversation that may be busy, under an id that may be known. */
export interface Submission {
  readonly seed: TurnSeed
  readonly input: Submitted
  readonly whenBusy: WhenBusy
}

/** Starts a turn once, joins it if it was submitted before, or waits for its turn. */
export async function submitTurn(scope: SubmitScope, given: Submission): Promise<TurnOutcome> {
  const queue = new QueuePlace(scope, given)
  try {
    return await new Submitting(scope, given, queue).run()
  } finally {
    await queue.leave()
  }
}

class Submitting {
  readonly #scope: SubmitScope
  readonly #given: Submission
  readonly #queue: QueuePlace

  constructor(scope: SubmitScope, given: Submission, queue: QueuePlace) {
    this.#scope = scope
    this.#given = given
    this.#queue = queue
  }

  async run(): Promise<TurnOutcome> {
    const { seed, whenBusy } = this.#given
    const until = performance.now() + STARTING_MS
    for (;;) {
      if (isAborted(seed)) return notWaited(seed)
      const known = await this.#known()
      if (known !== undefined) return known
      let busy: unknown
      if (whenBusy === 'refuse' || (await this.#queue.mayStart())) {
        try {
          return await this.#start()
        } catch (error) {
          const isKnown = isBobbinError(error, 'E_DUPLICATE_ENTRY')
          if (!isKnown && !isBobbinError(error, 'E_CONVERSATION_BUSY')) throw error
          busy = error
        }
      }
      if (whenBusy !== 'refuse') await this.#queue.enter()
      else if (performance.now() > until || (await this.#isTaken())) throw busy
      await pause(whenBusy === 'refuse' ? 10 : LOOK_MS)
    }
  }

  /** Joins the turn that has this id, or the one that took this message. */
  async #known(): Promise<TurnOutcome | undefined> {
    const { seed, input } = this.#given
    const { conversation, turnId } = seed
    const { settings } = this.#scope
    const { store } = settings
    const start = await store.get(conversation, 'turn-start', turnId)
    if (start !== undefined) {
      const { continues } = start.data
      const first = continues === undefined ? start : await this.#startOf(continues, start)
      const key = ownKey(settings, conversation) ?? (await store.key(conversation))
      requireSameInput(first, inputDigest(input, key))
      return this.#join(first.turnId, first.seq)
    }
    // Only a message that steered a turn has the id of a submission; the others have ids of their own.
    const taken = await store.get(conversation, 'message', turnId)
    if (taken?.data['role'] !== 'user') return undefined
    requireSameText(taken, { turnId, text: input.message })
    const by = await store.get(conversation, 'turn-start', taken.turnId)
    if (by === undefined) return undefined
    return this.#join(by.data.continues ?? by.turnId, by.seq, taken.seq)
  }

  async #startOf<Start>(turnId: string, otherwise: Start) {
    const { store } = this.#scope.settings
    return (await store.get(this.#given.seed.conversation, 'turn-start', turnId)) ?? otherwise
  }

  #join(first: string, from: number, shownFrom = from): Promise<TurnOutcome> {
    const { seed } = this.#given
    if (seed.control !== undefined) seed.control.joined = { first, after: shownFrom - 1 }
    seed.control?.found?.()
    return joinTurn(this.#scope, { first, from }, seed)
  }

  async #start(): Promise<TurnOutcome> {
    const { settings, buses } = this.#scope
    const { seed, input } = this.#given
    const { plan, ...start } = beginInput(input)
    return runTurn(settings, buses, { ...seed, ...start }, plan)
  }

  /** Whether another turn holds the conversation. One that has not stored its start may be this very turn, from elsewhere. */
  async #isTaken(): Promise<boolean> {
    const { conversation, turnId } = this.#given.seed
    const { store } = this.#scope.settings
    const running = await runningTurn(store, conversation)
    return running !== undefined && running.turnId !== turnId
  }
}

/** The row of one caller in the queue of a conversation. */
class QueuePlace {
  isIn = false
  readonly #scope: SubmitScope
  readonly #given: Submission
  #renewAt = 0

  constructor(scope: SubmitScope, given: Submission) {
    this.#scope = scope
    this.#given = given
  }

  /** Whether it is this message's turn: nothing runs, no gate waits, and nothing that lives is before it. */
  async mayStart(): Promise<boolean> {
    const { settings, source } = this.#scope
    const { conversation, turnId } = this.#given.seed
    const { store, clock } = settings
    const info = await store.conversation(conversation)
    if (info === undefined) {
      // A message that waits must not bring back a conversation that was deleted.
      if (this.isIn) throw notFound('conversation', conversation)
      return true
    }
    if (info.holder !== undefined || source.live().isWriting) return false
    const gates = await store.openGates(conversation)
    if (gates.some(({ state }) => state !== 'expired')) return false
    const { queued = [] } = (await store.feed?.requests(conversation, clock.now())) ?? {}
    const mine = queued.findIndex((row) => row.turnId === turnId)
    const before = mine === -1 ? queued : queued.slice(0, mine)
    if (before.some(({ until }) => until > clock.now())) return false
    return (await startLeftRows(this.#scope, before, this.#given.seed)) === before.length
  }

  /** Takes a place in the queue, and says from time to time that its caller lives. */
  async enter(): Promise<void> {
    const { settings, source } = this.#scope
    const { seed, input, whenBusy } = this.#given
    const { conversation, turnId } = seed
    const { feed } = settings.store
    if (feed === undefined) throw noQueue(conversation)
    const now = settings.clock.now()
    if (this.isIn && now < this.#renewAt) return
    this.#renewAt = now + ALIVE_MS / 3
    const mode = whenBusy === 'steer' ? 'steer' : 'queue'
    const row: QueuedRow = { turnId, mode, body: queuedBody(input), until: now + ALIVE_MS }
    if (!(await feed.enqueue(conversation, row, MAX_QUEUED))) throw queueFull(conversation)
    this.isIn = true
    if (mode === 'steer') source.live().writer?.nudge()
  }

  async leave(): Promise<void> {
    if (!this.isIn) return
    const { feed } = this.#scope.settings.store
    const { conversation, turnId } = this.#given.seed
    await feed?.dequeue(conversation, turnId).catch(() => undefined)
  }
}

/** Starts the turns of callers that have died, each once, in their order. Gives how many ended without a gate. */
export async function startLeftRows(
  scope: SubmitScope,
  rows: readonly QueuedRow[],
  { conversation }: Pick<TurnSeed, 'conversation'>,
): Promise<number> {
  const { settings, buses } = scope
  const { store } = settings
  for (const [at, row] of rows.entries()) {
    const { turnId } = row
    const isKnown =
      (await store.get(conversation, 'turn-start', turnId)) !== undefined ||
      (await store.get(conversation, 'message', turnId)) !== undefined
    let status: TurnOutcome['status'] = 'completed'
    const input = isKnown ? undefined : readable(scope, row, conversation)
    if (input !== undefined) {
      const { plan, ...start } = beginInput(input)
      const { context } = input
      try {
        const seed = { conversation, turnId, context, ...start }
        ;({ status } = await runTurn(settings, buses, seed, plan))
      } catch (error) {
        if (isBobbinError(error, 'E_CONVERSATION_BUSY')) return at
        // A `regenerate` that is no longer possible must not block the turns after it.
        if (input.regenerate === undefined) throw error
        buses.observed.emit('error', { error, where: 'open' }, { turnId, conversation })
      }
    }
    await store.feed?.dequeue(conversation, turnId)
    if (status === 'suspended') return at
  }
  return rows.length
}

/** A queued input. One that cannot be read is reported and skipped: it must not hold up those after it. */
function readable(
  { settings, buses }: SubmitScope,
  row: QueuedRow,
  conversation: string,
): Submitted | undefined {
  try {
    return queuedInput(row, settings.spool)
  } catch (error) {
    buses.observed.emit('error', { error, where: 'read' }, { turnId: row.turnId, conversation })
    return undefined
  }
}

const isAborted = ({ signal, control }: TurnSeed): boolean =>
  signal?.aborted === true || control?.abort.signal.aborted === true

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function queueFull(conversation: string): BobbinError<'E_QUEUE_FULL'> {
  const message = `${MAX_QUEUED} messages wait for conversation \`${conversation}\` already. Nothing was queued; send it again later.`
  return new BobbinError('E_QUEUE_FULL', message, { conversation, limit: MAX_QUEUED })
}

function noQueue(conversation: string): BobbinError<'E_STORE_UNAVAILABLE'> {
  const message = `The store of conversation \`${conversation}\` cannot queue messages. Run the turn again when the conversation is free.`
  const detail = 'the store has no `feed`'
  return new BobbinError('E_STORE_UNAVAILABLE', message, { reason: 'other', detail })
}
