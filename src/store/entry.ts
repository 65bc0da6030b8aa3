import type { JsonObject, JsonValue } from '../core/json/json.ts'
import type { TrustTier } from '../core/trust.ts'
import type { WireReference } from '../core/wire-reference.ts'
import type { ApprovedBy } from '../records/approved-by.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { Effect } from '../tools/tool-options.ts'
import type { GateDecision, GateRequest } from './gate.ts'
import type { CoverQuery } from './grant.ts'

/** The highest version of an entry that is read; entries of every earlier version stay readable. */
export const ENTRY_VERSION = 3

/** The version of a new entry: the lowest that knows its kind, so that an earlier package still reads the others. */
export const versionOf = (kind: EntryKind): number =>
  kind === 'rewind' || kind === 'summary' ? 3 : 2

/** The key of every imported intent. Tools are never run or asked with it. */
export const IMPORTED_KEY = 'imported'

/** The code of a note that the model reads with a result. */
export const CALL_NOTE = 'CALL_NOTE'

/** The code of a note that says where the result of a background call enters the history. */
export const BACKGROUND_RESULT = 'BACKGROUND_RESULT'

/** The code of a note that lowers the trust of everything after it. */
export const TAINT = 'TAINT'

/** The code of a note that says which agent is active from there on. */
export const HAND_OVER_NOTE = 'HAND_OVER'

/** What a call will do, made durable before its handler starts. */
export interface Intent {
  /** The id that its `ToolCall` will have: unique in the conversation. */
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly checksum: string
  /** Absent if the tool declares none. The call then counts as one that must not repeat. */
  readonly effect?: Effect
  readonly idempotencyKey: string
  /** ISO 8601: when the call was announced. */
  readonly createdAt: string
  readonly wire?: WireReference
  /** The taint that the call was judged by, where it was not free of any. */
  readonly taint?: TrustTier
  /** The gate whose decision allows the call. */
  readonly gateId?: string
  /** What allows a call that needed approval. */
  readonly approvedBy?: ApprovedBy
  /** What a standing approval was compared with, beside tool and effective arguments. */
  readonly covered?: Omit<CoverQuery, 'tool' | 'args'>
  /** The call whose arguments a person changed into these. */
  readonly editOf?: string
  /** The model gets a receipt, and the result in a later request. */
  readonly background?: true
}

/** Why and how a gate was left. */
export interface GateClosing {
  readonly id: string
  /** `consumed` needs a decided gate, `expired` an undecided one whose time is over. */
  readonly outcome: 'consumed' | 'expired' | 'abandoned'
  /** The decision that was used; the store fills it in from the gate. */
  readonly decision?: GateDecision
  /** The gate was given up before, and its call's result came after that. */
  readonly late?: true
}

/** How a turn began. */
export interface TurnStart {
  /** Which method began it. Entries of earlier versions do not say it. */
  readonly input?: 'run' | 'resume' | 'recover' | 'undo'
  /** The first turn of the chain that this one continues. */
  readonly continues?: string
  /** What the application passed as `context`. The turns that continue this one have it too. */
  readonly context?: JsonValue
  /** The active agent, where the runner has several. */
  readonly agent?: string
  /** HMAC of the input under the conversation's key: tells another input under the same id. */
  readonly digest?: string
  /** The turn that started this one as a sub-agent. */
  readonly parent?: { readonly conversation: string; readonly turnId: string }
  /** The span of the turn, as a W3C `traceparent`: a turn that continues this one links to it. */
  readonly trace?: string
  readonly [key: string]: JsonValue | undefined
}

/** How a turn ended. */
export interface TurnEnd {
  readonly status: 'completed' | 'stopped' | 'suspended' | 'aborted' | 'failed'
  readonly reason?: {
    readonly code: string
    readonly message: string
    readonly errorCode?: string
  }
  readonly usage?: StoredUsage
}

/** What a turn cost, sub-agents included. */
export interface StoredUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  /** In the currency of the runner's `prices`; absent without prices. */
  readonly cost?: number
  /** The part that sub-agents cost. */
  readonly nested?: Omit<StoredUsage, 'nested'>
}

/** One request to a model, whether it gave a response or failed. Entries of earlier versions have less of it. */
export interface ModelCall {
  /** The `response` of the items that it gave. */
  readonly id: string
  /** Which round of its turn, from 1. */
  readonly iteration: number
  /** Which try of the round, from 1. */
  readonly attempt?: number
  /** Which model answered; absent for an executor that asked none, or does not say so. */
  readonly api?: string
  readonly provider?: string
  readonly model?: string
  /** Epoch milliseconds, by the runner's clock. */
  readonly startedAt?: number
  readonly firstTokenAt?: number
  readonly endedAt?: number
  /** How the response ended. */
  readonly finish?: string
  /** Why the response is missing. */
  readonly error?: { readonly code?: string; readonly message: string }
  readonly usage?: Omit<StoredUsage, 'nested' | 'cost'>
  /** In the currency of the runner's `prices`; absent without a price for the model. */
  readonly cost?: number
  /** What the token budget found. */
  readonly budget?: JsonObject
  /** The last entry of the log that the request shows. */
  readonly upTo?: number
  /** The model that was asked before, and why it gave no response. */
  readonly fallback?: {
    readonly api: string
    readonly provider: string
    readonly model: string
    readonly error: { readonly code?: string; readonly message: string }
  }
  /** True when an executor of the application asked the model: it may have changed the request. */
  readonly ownExecutor?: boolean
  /** The version of the definition that made the body. */
  readonly adapter?: string | number
  /** What the budget took out of this request, and so out of all later ones. */
  readonly shed?: {
    /** The calls whose results became handles. */
    readonly handles: readonly string[]
    /** The places in the history of what was dropped, from 0. */
    readonly dropped: readonly number[]
  }
  /**
   * The token of a response that the provider keeps, while it is in flight; the entry about its end follows. `recover` picks
   * such a response up.
   */
  readonly continuation?: string
  /** Why the provider found less in its cache than in the request before, in its own words; only where it was asked. */
  readonly cacheMiss?: JsonObject
  /** What the request begins with, so that the next one can be compared with it. Earlier versions have none. */
  readonly prefix?: StoredPrefix
  readonly digests: {
    /** SHA-256 of the request's body in canonical form, without headers. Models that send no request have none. */
    readonly request?: string
  } & { readonly [Part in RequestPart]?: string }
  /** `digests` when the parts of the request were not to be stored. */
  readonly capture?: 'digests'
  /** The parts from which secrets were removed: the request had them. */
  readonly scrubbed?: readonly RequestPart[]
  /** The parts of the request. A store takes them out of the entry, and keeps each once under its digest. */
  readonly parts?: RequestParts
}

/**
 * Why a request does not begin with the request before. `handle`: the first result that is shown as a handle brings tools
 * to read it. `edit`: an earlier result was superseded, or got a note or a decision. `model`: another model, protocol, or
 * other settings of it.
 */
export type BreakCause =
  | 'budget'
  | 'compaction'
  | 'edit'
  | 'hand-over'
  | 'handle'
  | 'instructions'
  | 'model'
  | 'rewind'
  | 'tools'

/** The prompt of a request as digests. */
export interface StoredPrefix {
  /** Of the names of protocol, provider and model: no two of them share a cache. */
  readonly model: string
  /** Of what the body is made of besides the request, and of the version of the definition. */
  readonly settings: string
  /** Of the tools of the runner, without those that read handles. */
  readonly tools: string
  /** Of the instructions of the runner. */
  readonly instructions: string
  /** Of what the body has before the history. */
  readonly head: { readonly tools?: string; readonly instructions?: string }
  /** How many pieces the history had, and the digest of all of them. */
  readonly length: number
  readonly digest: string
  /** Present when the request did not begin with the one before. */
  readonly broken?: {
    /** The first part that changed, e.g. `tools`, or the first message behind which something did, e.g. `messages[4]`. */
    readonly at: string
    /** Why; empty for a cause that is not known. */
    readonly causes: readonly BreakCause[]
  }
}

/**
 * The earlier part of a conversation in a few words. Requests show it in an envelope in place of the entries that it
 * covers; the entries stay in the log.
 */
export interface Summary {
  readonly id: string
  readonly text: string
  /** The last entry that it covers. It covers everything before that one too, earlier summaries included. */
  readonly upTo: number
  /** The lowest trust of what it covers. */
  readonly trust: TrustTier
  /** The calls that it covers whose results artifact tools can still read, the newest last. */
  readonly calls: readonly string[]
  /** True when requests have to offer the tools that read them. */
  readonly handles?: true
  /** Entries that it covers and that requests show all the same: the messages of the turn that it cuts through. */
  readonly keeps?: readonly number[]
  /** The active agent, where the runner has several: what says so before may be covered. */
  readonly agent?: string
  /** The number of the first place of the history after it; `ModelCall.shed` has such numbers. */
  readonly place?: number
  readonly usage?: Omit<StoredUsage, 'nested' | 'cost'>
  /** In the currency of the runner's `prices`; absent without a price for the model. */
  readonly cost?: number
}

/** The parts of requests that are stored beside the log, once for each content. */
export const REQUEST_PARTS = ['instructions', 'tools', 'context', 'params', 'output'] as const
/** The name of a part of a request. */
export type RequestPart = (typeof REQUEST_PARTS)[number]
/** The parts of a request, as JSON. */
export type RequestParts = { readonly [Part in RequestPart]?: JsonValue }

/** The conversation stands again as it did before one of its messages. Later messages and calls no longer count. */
export interface Rewind {
  readonly id: string
  /** The first turn of the chain that the message belongs to. */
  readonly toTurnId: string
  /** The first message of a user that no longer counts. */
  readonly message: string
  /** The agent that was active when it came, and is again. */
  readonly agent?: string
}

/** Something the operator should know: a warning, a recovery, a doubt. */
export interface Note {
  readonly level: 'info' | 'warning' | 'error'
  readonly code: string
  readonly message: string
  readonly data?: JsonValue
}

/** The data of each kind of entry. Records are stored as their `toJSON` and restored by their `fromJSON`. */
export interface EntryData {
  message: JsonObject
  thought: JsonObject
  /** History items that are not records: calls as they were asked for, and a provider's own items. */
  'history-item': HistoryItem & {
    readonly id: string
    /** ISO 8601: when a call was announced. Entries of earlier versions have none. */
    readonly createdAt?: string
    /** The id of the `toolInput` events that brought the arguments of a call. */
    readonly inputId?: string
    /** The open call of an earlier response that this call of a provider finishes. */
    readonly settles?: string
  }
  intent: Intent
  /** A `ToolCall` as JSON; artifacts and media in it are references. */
  settlement: JsonObject
  'gate-opened': GateRequest
  'gate-closed': GateClosing
  'turn-start': TurnStart
  'turn-end': TurnEnd
  'model-call': ModelCall
  summary: Summary
  rewind: Rewind
  note: Note
}

/** The kinds of entry that a log holds. */
export type EntryKind = keyof EntryData

/** What a runner gives to `append`. The store adds the rest. */
export type NewEntry = {
  [K in EntryKind]: { readonly kind: K; readonly turnId: string; readonly data: EntryData[K] }
}[EntryKind]

/** One line of a conversation's log: plain JSON that never changes. */
export type Entry = { [K in EntryKind]: EntryOf<K> }[EntryKind]

/** A stored entry of one kind. */
export interface EntryOf<K extends EntryKind> {
  /** The version that it was written with. */
  readonly v: number
  readonly kind: K
  /** Place in the conversation, from 1, without gaps. */
  readonly seq: number
  readonly turnId: string
  /** Epoch milliseconds of the append, by the store's clock. */
  readonly time: number
  /** Which holder of the conversation wrote it. */
  readonly epoch: number
  readonly data: EntryData[K]
  /** Paths in `data` whose values were removed before storing. */
  readonly redacted?: readonly string[]
  /** SHA-256 of the canonical JSON of everything above. */
  readonly digest: string
  /** On `turn-end` only: HMAC over the previous seal and the digests since, this entry's included. */
  readonly seal?: string
}
