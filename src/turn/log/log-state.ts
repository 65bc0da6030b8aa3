import { IdLedger } from '../../core/ids.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { lowerTrust, TRUST_TIERS, type TrustTier } from '../../core/trust.ts'
import type { HistoryItem, OpenCallItem } from '../../records/history-item.ts'
import type { Message } from '../../records/message.ts'
import { OpenCalls } from '../../records/open-calls.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { isArtifact } from '../../spool/artifact.ts'
import { Media } from '../../spool/media.ts'
import { type Intent, type Note, type StoredUsage, TAINT } from '../../store/entry.ts'
import { type AskedCall, type OpenState, shownId } from './call-state.ts'
import { agentIn, backgroundResultIn, type Fact, OWN_WIRE } from './fact.ts'
import { EMPTY_LOG, type LogEnd, nextEnd } from './log-end.ts'

/**
 * The state of a log, folded fact by fact: the same code runs when facts are committed and when they are read back. Only
 * `apply` changes it, except for ids, which are claimed before they are stored.
 */
export class LogState {
  readonly ids = new IdLedger()
  /** The calls without a record, in the order asked. Their states are never `settled`. */
  readonly open = new Map<string, OpenState>()
  /** The records in the order in which they settled. */
  readonly records: ToolCall[] = []
  /** The record that is shown for each call. */
  readonly shown = new Map<string, ToolCall>()
  /** Calls that a provider started and has not finished. */
  readonly providers = new OpenCalls()
  readonly #providerItems = new Map<string, ProviderCall>()
  /** The trust of the least trusted content so far. */
  taint: TrustTier = 'developer'
  /** The checksums of the calls that settled since the last message of the user. */
  recent: string[] = []
  /** The calls whose results come later than their receipts, by the ids under which they are shown. */
  readonly background = new Set<string>()
  /** Records of background calls that the history does not show yet, in the order in which they settled. */
  readonly unshown = new Map<string, ToolCall>()
  /** The messages of users that count. */
  readonly #asked: AskedMessage[] = []
  end: LogEnd = EMPTY_LOG
  /** The active agent; undefined in a conversation without agents. */
  agent: string | undefined
  /** What the application passed to the last `run` as `context`. */
  context: JsonValue | undefined
  /** What the last `run` and the turns that continue it have spent. */
  spent = { tokens: 0, cost: 0 }
  #unrecorded: TrustTier | undefined
  #isUndo = false
  /** The entry that was applied last. */
  #seq = 0
  /** Where the taint fell, and to what. There are as many steps as tiers at most. */
  readonly #falls: { readonly seq: number; readonly tier: TrustTier }[] = []

  apply(facts: readonly Fact[], seq: number): void {
    for (const [at, fact] of facts.entries()) {
      this.#seq = seq + at
      this.#apply(fact)
    }
  }

  /** Begins after an entry; the content up to that entry has this trust. */
  beginBehind(seq: number, trust: TrustTier): void {
    this.#lower(trust, seq)
  }

  /** The trust of the least trusted content up to an entry. */
  taintAt(seq: number): TrustTier {
    return this.#falls.findLast((fall) => fall.seq <= seq)?.tier ?? 'developer'
  }

  #apply(fact: Fact): void {
    this.#follow(fact)
    switch (fact.kind) {
      case 'message':
        for (const { trustTier } of fact.message.attachments) this.#lower(trustTier)
        if (fact.message.role === 'user') this.#ask(fact.message)
        break
      case 'call':
        this.ids.take(fact.call.item.id)
        this.open.set(fact.call.item.id, { at: 'asked', call: fact.call })
        break
      case 'item':
        this.#takeItem(fact)
        break
      case 'gate-opened':
        this.#takeGate(fact.gate.id, fact.gate.toolCallId)
        break
      case 'gate-closed':
        this.#release(fact.closing.id)
        break
      case 'intent':
        this.#start(fact)
        break
      case 'settlement':
        this.#settle(fact.record)
        break
      case 'note':
        this.#lower(taintOf(fact.note))
        if (fact.note.code === TAINT) this.#unrecorded = undefined
        this.#show(backgroundResultIn(fact.note))
        this.agent = agentIn(fact.note) ?? this.agent
        break
      case 'model-call':
        this.#spend(fact.modelCall.usage, fact.modelCall.cost)
        break
      case 'summary':
        this.#lower(fact.summary.trust)
        this.agent = fact.summary.agent ?? this.agent
        this.#spend(fact.summary.usage, fact.summary.cost)
        break
      case 'turn-start':
        this.agent = textOf(fact.start.agent) ?? this.agent
        // A turn that continues another has its context.
        if ((fact.start.input ?? 'run') === 'run') {
          this.context = fact.start.context
          this.spent = { tokens: 0, cost: 0 }
        }
        break
      case 'turn-end':
        // Inner turns have logs of their own.
        this.#spend(fact.end.usage?.nested, fact.end.usage?.nested?.cost)
        break
      case 'rewind':
        this.#rewind(fact.rewind.message)
        this.agent = fact.rewind.agent ?? this.agent
        break
      case 'thought':
        break
    }
  }

  /** The last message of a user that counts. */
  get lastMessage(): Message | undefined {
    return this.#asked.at(-1)?.message
  }

  /** An undo is a turn beside the others: what they left to do stays. */
  #follow(fact: Fact): void {
    if (fact.kind === 'turn-start') this.#isUndo = fact.start.input === 'undo'
    if (!this.#isUndo) this.end = nextEnd(this.end, fact)
    if (fact.kind === 'turn-end') this.#isUndo = false
  }

  /** The agent that was active when that message came. */
  get lastAgent(): string | undefined {
    return this.#asked.at(-1)?.agent
  }

  /** Counts content that is in no fact: memories and retrievables, and what the outer turn has seen. */
  seeUnrecorded(tier: TrustTier): void {
    const before = this.taint
    this.#lower(tier, this.#seq + 1)
    if (this.taint !== before) this.#unrecorded = tier
  }

  /** The tier of such content, until a note in the log records it. */
  get unrecorded(): TrustTier | undefined {
    return this.#unrecorded
  }

  /** A call that its provider left open, perhaps to ask for approval, and when it did so. */
  providerCall(id: string | undefined): ProviderCall | undefined {
    return this.#providerItems.get(id ?? '')
  }

  /** The calls that are still in doubt. */
  get doubts(): readonly ToolCall[] {
    return this.records.filter(
      (call) => call.settlement === 'in-doubt' && this.shown.get(shownId(call)) === call,
    )
  }

  #spend(usage: Omit<StoredUsage, 'nested'> | undefined, cost = 0): void {
    const { inputTokens = 0, outputTokens = 0 } = usage ?? {}
    const { spent } = this
    this.spent = { tokens: spent.tokens + inputTokens + outputTokens, cost: spent.cost + cost }
  }

  #ask(message: Message): void {
    this.recent = []
    const [provided, background] = [this.#providerItems.size, this.background.size]
    this.#asked.push({ message, agent: this.agent, provided, background, results: [] })
  }

  /** The history shows the result of a background call from here on. */
  #show(id = ''): void {
    const record = this.unshown.get(id)
    if (record === undefined) return
    this.unshown.delete(id)
    this.#asked.at(-1)?.results.push(record)
  }

  /** Records, ids and the taint stay: what happened has happened. No later response finishes a provider's call from there. */
  #rewind(message: string): void {
    const at = this.#asked.findLastIndex((asked) => asked.message.id === message)
    const taken = at === -1 ? [] : this.#asked.splice(at)
    const { provided = Infinity, background = Infinity } = taken[0] ?? {}
    for (const { item } of [...this.#providerItems.values()].slice(provided)) {
      this.providers.forget(item)
    }
    for (const id of [...this.background].slice(background)) this.background.delete(id)
    // The result of a call that still counts is shown again.
    for (const record of taken.flatMap(({ results }) => results)) {
      this.unshown.set(record.id, record)
    }
    for (const [id, record] of this.unshown) {
      if (!this.background.has(shownId(record))) this.unshown.delete(id)
    }
  }

  #lower(tier: TrustTier, seq = this.#seq): void {
    const lower = lowerTrust(this.taint, tier)
    if (lower !== this.taint) this.#falls.push({ seq, tier: lower })
    this.taint = lower
  }

  #takeItem({ id, item, askedAt = 0, redacted }: Fact & { kind: 'item' }): void {
    if (isStrangers(item)) this.#lower('third-party')
    if (item.type !== 'call' && item.type !== 'openCall') return
    this.ids.take(id)
    if (item.type === 'call') this.providers.take({ ...item, id })
    else {
      const open = { ...item, id }
      this.providers.see(open)
      this.#providerItems.set(id, { item: open, askedAt, ...(redacted && { redacted }) })
    }
  }

  /** A gate on a call that has started belongs to the turn inside it: the call is held. */
  #takeGate(gate: string, callId = ''): void {
    const state = this.open.get(callId)
    if (state?.at === 'asked') this.open.set(callId, { at: 'waiting', call: state.call, gate })
    if (state?.at !== 'started' && state?.at !== 'held') return
    const gates = state.at === 'held' ? state.gates : []
    this.open.set(callId, { ...state, at: 'held', gates: [...gates, gate] })
  }

  /** When its last gate closes, a held call is a started one again. */
  #release(gate: string): void {
    for (const [id, state] of this.open) {
      if (state.at !== 'held' || !state.gates.includes(gate)) continue
      const { call, intent } = state
      const gates = state.gates.filter((each) => each !== gate)
      const next = { call, intent }
      this.open.set(
        id,
        gates.length > 0 ? { at: 'held', ...next, gates } : { at: 'started', ...next },
      )
    }
  }

  #start({ intent, stored }: Fact & { kind: 'intent' }): void {
    const { id, checksum } = intent
    this.ids.take(id)
    const known = this.open.get(id)
    const call = known?.call ?? editedCall(intent, stored?.redacted)
    if (call === undefined) return
    if (intent.background) this.background.add(intent.editOf ?? id)
    // The intent has the checksum of the real arguments, even if the stored ones are redacted. Earlier versions stored the
    // time of the announcement only here.
    const askedAt = Date.parse(intent.createdAt)
    this.open.set(id, { at: 'started', call: { ...call, checksum, askedAt }, intent })
  }

  #settle(record: ToolCall): void {
    const { id } = record
    this.ids.take(id)
    this.open.delete(id)
    this.records.push(record)
    this.shown.set(shownId(record), record)
    if (this.background.has(shownId(record))) this.unshown.set(id, record)
    const provided = this.#providerItems.get(id)
    if (provided !== undefined) this.providers.forget(provided.item)
    // Media have a trust of their own, which may be lower than the tool's.
    for (const tier of mediaTiers(record)) this.#lower(tier)
    this.#lower(record.trust)
    // A record that supersedes another is about the same call.
    const isAsked = record.executedBy !== 'provider' && !record.supersedes && !record.undoes
    if (isAsked) this.recent.push(record.checksum)
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** A message of a user, and what was known when it came. */
interface AskedMessage {
  readonly message: Message
  readonly agent: string | undefined
  /** How many calls providers had left open, and how many had begun in the background. */
  readonly provided: number
  readonly background: number
  /** The results of background calls that the history shows since. */
  readonly results: ToolCall[]
}

/** Items without a neutral form that the model wrote itself. */
const MODELS_OWN: ReadonlySet<unknown> = new Set([
  'compaction',
  'context_compaction',
  'fallback',
  'structured_outputs',
])

/**
 * Whether an item of a response holds text that a stranger may have written: a result, or a kind that no reader knows,
 * such as the list of an MCP server's tools or the output of a new hosted tool.
 */
export function isStrangers(item: HistoryItem): boolean {
  if (item.type === 'call') return item.result !== undefined
  if (item.type !== 'raw' || item.role === 'user') return false
  return !MODELS_OWN.has((item.value as { readonly type?: unknown } | null)?.type)
}

/** A call that a provider left open, and when it was announced. */
export interface ProviderCall {
  readonly item: OpenCallItem
  readonly askedAt: number
  readonly redacted?: readonly string[]
}

/** The call with the arguments that a person edited: only its intent describes it. */
function editedCall(
  { id, tool, args, checksum, wire = OWN_WIRE, editOf, createdAt }: Intent,
  redacted: readonly string[] | undefined,
): AskedCall | undefined {
  if (editOf === undefined) return undefined
  return {
    item: { type: 'call', id, tool, args, wire, executedBy: 'runner' },
    checksum,
    askedAt: Date.parse(createdAt),
    editOf,
    ...(redacted && { redacted }),
  }
}

/** The trust in a taint note; one that cannot be read counts as the least trusted. */
function taintOf({ code, data }: Note): TrustTier {
  if (code !== TAINT) return 'developer'
  const { trust } = (data ?? {}) as { readonly trust?: TrustTier }
  return TRUST_TIERS.find((tier) => tier === trust) ?? 'third-party'
}

/** Whether a model may query the results of a call. */
export function holdsArtifacts({ results }: ToolCall): boolean {
  return Array.isArray(results) ? results.every(isArtifact) : isArtifact(results)
}

function mediaTiers({ results, media = [] }: ToolCall): readonly TrustTier[] {
  const list: readonly unknown[] = [results, ...media.map((one) => one.media)].flat()
  return list.flatMap((one) => (Media.isMedia(one) ? one.trustTier : []))
}
