import type { JsonValue } from '../../core/json/json.ts'
import { conversationKey } from '../../store/conversation-key.ts'
import type { Note, TurnStart } from '../../store/entry.ts'
import { type LiveFeed, liveFeed } from '../../store/feed/live-feed.ts'
import type { Lease } from '../../store/store.ts'
import { promptCacheKey } from '../../text/cache-key.ts'
import { envelopeKey } from '../../text/envelope-key.ts'
import { BackgroundCalls } from '../call/background-calls.ts'
import type { OuterTurn } from '../call/inner-turn.ts'
import { callOutput } from '../call/output.ts'
import { secretScrubber } from '../call/secret-scrubber.ts'
import type { Buses } from '../events/event-bus.ts'
import type { TurnTrace } from '../events/telemetry.ts'
import { TurnEmitter } from '../events/turn-emitter.ts'
import { subjectOnce } from '../gates/grant-answer.ts'
import { type Interruption, interruptionOf } from '../limits/cut-off.ts'
import { RepeatGuard } from '../limits/repeat-guard.ts'
import { shownId } from '../log/call-state.ts'
import { ConversationLog } from '../log/conversation-log.ts'
import { isDoubt } from '../log/fact.ts'
import type { LogState } from '../log/log-state.ts'
import { resultSpool } from '../log/small-results.ts'
import type { SetupContext } from '../options/agent-options.ts'
import { activeAgent } from '../options/agents.ts'
import type { RunnerSettings, TurnSetup } from '../options/runner-options.ts'
import { readBack } from '../recovery/read-back.ts'
import { History } from '../request/history.ts'
import { LastTold } from '../request/last-told.ts'
import { presentationOf } from '../request/presentation.ts'
import { PromptPrefix } from '../request/prompt-prefix.ts'
import { turnContext } from '../request/turn-context.ts'
import { TurnRequest } from '../request/turn-request.ts'
import { VisibleCalls } from '../request/visible-calls.ts'
import { readingOf, warnTooLarge } from './follow-log.ts'
import { requireHeld, requireStillHeld } from './held-parent.ts'
import { takePulse } from './pulse.ts'
import type { OutputShape } from './structured-output.ts'
import { Steering, type Turn } from './turn.ts'
import { TurnChain, UNUSED } from './turn-chain.ts'
import { NOTHING_SPENT, TurnTally } from './turn-tally.ts'

/** How the handle of a turn reaches it. */
export interface TurnControl {
  readonly abort: AbortController
  /** The length of the log when the turn opened it; undefined before. */
  openedAt: number | undefined
  /** Another turn that does what was asked: its first turn, and the place in the log where that begins. */
  joined?: { readonly first: string; readonly after: number }
  /** Resolves when the turn was opened, or another one joined; absent where only this one can be meant. */
  readonly whenFound?: Promise<void>
  readonly found?: () => void
}

/** Which turn it is, and where. */
export interface TurnPlace {
  readonly conversation: string
  readonly turnId: string
  readonly control?: TurnControl
}

/** The input of `openTurn`. */
export interface TurnSeed extends TurnPlace, TurnWishes {
  /** The turn around this one, when it runs inside a call. */
  readonly parent?: OuterTurn
  /** The results of external calls that this process received, by gate. */
  readonly outputs?: ReadonlyMap<string, unknown>
  /** What its first entry says of its input; the key of the conversation is given. If it throws, the turn does not start. */
  readonly startWith?: (key: Uint8Array, turn: Turn) => Promise<Pick<TurnStart, 'digest'>>
  /** Its trace, if the runner has `telemetry`. */
  readonly trace?: TurnTrace
  /** Whether it has the `context` of the turn before it unless another is given. */
  readonly keepsContext?: boolean
}

/** What the caller asks of a turn, beside what it is about. */
export interface TurnWishes {
  /** What the application passed to `run`; a turn that continues another has it from the log. */
  readonly context?: JsonValue | undefined
  readonly signal?: AbortSignal | undefined
  readonly output?: OutputShape | undefined
  /** Takes the conversation although another runner's lease has not expired. */
  readonly force?: boolean | undefined
}

/** A turn that holds its conversation until `close`. */
export interface OpenedTurn {
  readonly turn: Turn
  close(): Promise<void>
}

/** The key of a conversation, where it derives from a secret of the application. */
export const ownKey = (
  { conversationSecret }: RunnerSettings,
  conversation: string,
): Uint8Array | undefined => conversationSecret && conversationKey(conversationSecret, conversation)

/** Takes the lease of the conversation, reads its log, and sets up the turn. */
export async function openTurn(
  settings: RunnerSettings,
  buses: Buses,
  seed: TurnSeed,
  input: NonNullable<TurnStart['input']>,
): Promise<OpenedTurn> {
  const { store } = settings
  const { conversation: id, parent } = seed
  const key = ownKey(settings, id)
  // Only the holder of the outer conversation runs the inner one: any other lease is of a dead process.
  const force = seed.force === true || parent !== undefined
  if (parent !== undefined) await requireHeld(parent)
  const lease = await store.acquire(id, {
    owner: 'runner',
    leaseMs: settings.leaseMs,
    force,
    ...(key && { key }),
  })
  const interruption = interruptionOf(id, seed.signal, settings.limits.timeMs, seed.control?.abort)
  const beat = keepAlive(settings, lease, interruption)
  let endFeed = async () => {}
  const close = async () => {
    interruption.clear()
    await endFeed()
    await release(settings, lease, beat)
  }
  try {
    const secret = key ?? (await store.key(id))
    const { turn, live } = await turnOn(settings, buses, seed, input, {
      lease,
      interruption,
      secret,
    })
    const pulse = takePulse(turn, live)
    endFeed = async () => {
      await pulse.end()
      turn.events.end()
    }
    // A sub-agent always resumes, and the first time there is nothing to resume.
    const context = ownContext(seed, turn.log.state)
    const start = {
      input: lease.created ? 'run' : input,
      ...(context !== undefined && { context: turn.output.json(context) }),
      ...(turn.opened.chain[0] !== undefined && { continues: turn.opened.chain[0] }),
      ...(await seed.startWith?.(secret, turn)),
      ...(parent && { parent: { ...parent.origin } }),
      ...(turn.agent && { agent: turn.agent.name }),
      ...(seed.trace?.name !== undefined && { trace: seed.trace.name }),
    }
    seed.trace?.opened(turn.output.json)
    if (turn.agent) seed.trace?.agent(turn.agent.name)
    await turn.log.commit([{ kind: 'turn-start', start }])
    // From here on, deleting the outer conversation also deletes this one. Before, it may have missed it.
    if (parent !== undefined) await requireStillHeld(parent, store, id)
    await pulse.begin()
    return { turn, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The context that a turn brings, and stores with its first entry. */
const ownContext = ({ context, keepsContext }: TurnSeed, before: Pick<LogState, 'context'>) =>
  context === undefined && keepsContext ? before.context : context

interface Held {
  readonly lease: Lease
  readonly interruption: Interruption
  readonly secret: Uint8Array
}

/** Reads the log, and registers everything that follows it. */
async function turnOn(
  given: RunnerSettings,
  buses: Buses,
  seed: TurnSeed,
  way: TurnStart['input'],
  { lease, interruption, secret }: Held,
): Promise<{ readonly turn: Turn; readonly live: LiveFeed }> {
  const { conversation: id, turnId, parent, output, control } = seed
  const { store, artifacts } = given
  const results = resultSpool(store, given.spool)
  const restore = { spool: results, ...(artifacts && { artifacts }) }
  const events = new TurnEmitter({
    buses,
    origin: Object.freeze({ turnId, conversation: id }),
    openFeed: () => liveFeed(store, id),
    epoch: lease.epoch,
    clock: given.clock,
    restore,
  })
  const presentation = presentationOf(
    lease.envelopeKey ?? envelopeKey(secret, id),
    readingOf(interruption, events),
  )
  const log = new ConversationLog({
    id,
    epoch: lease.epoch,
    turnId,
    store,
    results,
    onStored: (entries, appended) => events.stored(entries, appended),
  })
  const { state } = log
  const visible = new VisibleCalls()
  // What an earlier turn has shown as a handle was reported then.
  let isRead = false
  const history = new History(presentation, (record) => {
    visible.showHandle(shownId(record))
    if (isRead && record.inline) warnTooLarge(events, record)
  })
  log.follow(history)
  log.follow(visible)
  const prefix = new PromptPrefix()
  log.follow(prefix)
  const lastTold = new LastTold()
  log.follow(lastTold)
  const doubts: Note[] = []
  const chain = new TurnChain()
  const gates = lease.created ? [] : await store.openGates(id)
  if (!lease.created) {
    const isNew = way === 'run' && !seed.keepsContext
    // What a turn inside a call has done decides about that call. Any call may be undone.
    const needsAll = parent !== undefined || way === 'undo'
    const reading = { store, conversation: id, way, isNew, needsAll, restore, gates }
    await readBack(reading, { log, history, visible }, (entry, fact) => {
      chain.read(entry)
      if (fact.kind === 'turn-end') doubts.length = 0
      else if (isDoubt(fact)) doubts.push(fact.note)
    })
  }
  if (way !== 'run' && typeof chain.trace === 'string') seed.trace?.continues(chain.trace)
  const hasOwn = way === 'run' || way === 'undo'
  const context = parent ? parent.context : hasOwn ? ownContext(seed, state) : state.context
  const { fault, ...setup } = await setUp(
    given,
    { context, conversation: id, turnId },
    interruption,
  )
  const settings = { ...given, ...setup }
  const active = () => activeAgent(settings.agents, state.agent)
  const { instructions, tools } = active() ?? settings
  visible.offer(tools, artifacts)
  await history.render()
  isRead = true
  if (parent !== undefined) state.seeUnrecorded(parent.taint)
  const used = way === 'run' || way === 'undo' ? UNUSED : chain.use
  interruption.spend(used.timeMs)
  // From here on, followers get the facts of this turn only.
  const { limits } = settings
  const rules = { limits, before: way === 'run' ? NOTHING_SPENT : state.spent }
  const tally = new TurnTally(settings.clock.now(), rules, parent, used)
  const isLimited =
    Number.isFinite(limits.tokens) || Number.isFinite(limits.cost) || parent?.isLimited === true
  log.follow(tally)
  const steering = new Steering()
  const nudge = () => steering.ask()
  const live = events.begin(log.length, gates, { stop: interruption.stop, nudge })
  if (control !== undefined) control.openedAt = log.length
  control?.found?.()
  const guard = new RepeatGuard(settings.repeat)
  const scrubbed = callOutput(results, secretScrubber(settings.secrets))
  const { budget } = settings
  const request = new TurnRequest({
    instructions,
    budget,
    state,
    history,
    visible,
    presentation,
    length: () => log.length,
    counts: isLimited || settings.compact !== undefined,
    ...(settings.appends && {
      toldBefore: (now) => lastTold.load(store, now),
      scrub: scrubbed.json,
    }),
  })
  const { signal } = interruption
  const ctx = turnContext({
    context,
    turnId,
    conversation: id,
    signal,
    output: output?.request,
    cacheKey: promptCacheKey(presentation.key),
    request,
    visible,
    guard,
    secret,
    iteration: () => tally.iteration,
    agent: () => active()?.name,
  })
  const conversations = [id, ...(parent?.conversations ?? [])]
  const outer: OuterTurn = {
    origin: events.origin,
    epoch: lease.epoch,
    depth: parent === undefined ? 0 : parent.depth + 1,
    conversations,
    context,
    outputs: seed.outputs ?? parent?.outputs,
    settings,
    observed: buses.observed,
    get taint() {
      return state.taint
    },
    isLimited,
    addUsage: (usage, cost) => tally.addNested(usage, cost),
    overspent: (next) => tally.overspent(next),
    hold: (input, sign) => tally.hold(input, sign),
  }
  const turn: Turn = {
    settings,
    log,
    restore,
    request,
    prefix,
    output: scrubbed,
    events,
    interruption,
    guard,
    steering,
    visible,
    compaction: { above: 0 },
    background: new BackgroundCalls(interruption.abortIfLost),
    tally,
    answer: output,
    opened: {
      end: state.end,
      gates,
      outputs: seed.outputs ?? parent?.outputs,
      doubts,
      fault,
      chain: way === 'run' ? [] : chain.turns,
    },
    ctx,
    inner: settings.inner(outer),
    trace: seed.trace,
    standing: { conversations, subject: subjectOnce(settings, context, events) },
    get agent() {
      return active()
    },
    get tools() {
      return request.tools
    },
    toolOf: (name) => request.tools.get(name) ?? settings.tools.get(name),
  }
  return { turn, live }
}

/** Asks the application for tools and instructions. If that fails, the turn opens without them, and fails by it. */
async function setUp(
  settings: RunnerSettings,
  ctx: SetupContext,
  { watch }: Interruption,
): Promise<TurnSetup & { readonly fault?: unknown }> {
  try {
    return await watch.orAborted(settings.setUp(ctx))
  } catch (fault) {
    return { tools: settings.tools, instructions: settings.instructions, fault }
  }
}

/** Renews the lease while the turn works. Losing the conversation aborts the turn. */
function keepAlive({ store, leaseMs }: RunnerSettings, lease: Lease, interruption: Interruption) {
  const renew = async () => {
    try {
      await store.renew(lease.conversation, lease.epoch, leaseMs)
    } catch (error) {
      // A short outage of the store does no harm: the epoch protects the log.
      interruption.abortIfLost(error)
    }
  }
  const timer = setInterval(() => void renew(), leaseMs / 3)
  // A turn that hangs must not keep the process alive by itself.
  if (typeof timer === 'object') timer.unref()
  return timer
}

async function release(
  { store }: RunnerSettings,
  { conversation, epoch }: Lease,
  beat: ReturnType<typeof setInterval>,
): Promise<void> {
  clearInterval(beat)
  try {
    await store.release(conversation, epoch)
  } catch {
    // The lease expires by itself.
  }
}
