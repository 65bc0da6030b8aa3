import type { ArgumentRule } from '../core/error/error-codes.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import type { ProviderData, WireReference } from '../core/wire-reference.ts'

/**
 * One entry of a conversation in its neutral form: what every decoder gives and every encoder takes.
 * Plain readonly data, in wire order; nothing here belongs to one provider except `providerData`.
 */
export type HistoryItem = MessageItem | ThoughtItem | CallItem | OpenCallItem | RawItem

interface FromResponse {
  /**
   * Which model response the item came from. Calls that share it were asked for in parallel; the
   * encoders keep them, their reasoning and their results together. Input has none.
   */
  readonly response?: string
  /** Opaque state that goes back verbatim to the wire it came from, and nowhere else. */
  readonly providerData?: ProviderData
}

/** A call that its provider ran as other providers get it: text in envelopes. */
export interface ForeignForm {
  /** The arguments. */
  readonly asked: string
  /** The result. Without it, the texts of `result` are in envelopes already. */
  readonly found?: string
}

interface FromStream {
  /** The id of the `toolInput` events that brought the arguments. */
  readonly inputId?: string
}

interface ForOthers {
  /** A runner writes it. Send it wherever the call does not go back to its provider in the provider's own form. */
  readonly foreign?: ForeignForm
}

/** What a person, the model or the operator said. */
export interface MessageItem extends FromResponse {
  readonly type: 'message'
  readonly role: 'user' | 'assistant' | 'system'
  readonly parts: readonly ContentPart[]
  /** Set on a memory or retrievable that middleware added. It weighs from 0 to 1; what weighs least is dropped first. */
  readonly context?: {
    readonly kind: 'memory' | 'retrievable'
    readonly id: string
    readonly weight: number
  }
  /** The call whose result it brings: one that ran in the background and has a receipt for a result. */
  readonly resultOf?: string
  /** Set on a message of the runner that changes instructions or tools. Its role is `system`, and its parts say the instructions. */
  readonly change?: PromptChange
}

/** Instructions and tools of a request. Each tool is JSON as text: stored objects lose the order of their keys. */
export interface ToldPrompt {
  readonly instructions: string
  readonly tools: readonly string[]
}

/** How instructions and tools changed in the middle of a conversation. */
export interface PromptChange {
  /**
   * What requests say before the history from now on, and what later changes start from. It voids every change before
   * this one, and comes before the members below.
   */
  readonly from?: ToldPrompt
  /** The new instructions. */
  readonly instructions?: string
  /** Tools that are new, as JSON. */
  readonly added?: readonly string[]
  /** The names of tools that are gone. */
  readonly removed?: readonly string[]
}

/** Reasoning: the readable part as text, the rest (signatures, ciphertext) in `providerData`. */
export interface ThoughtItem extends FromResponse {
  readonly type: 'thought'
  readonly text: string
}

/** A call with its result, once there is one. Without `result` the runner has yet to act on it. */
export interface CallItem extends FromResponse, ForOthers, FromStream {
  readonly type: 'call'
  /** Never empty, unique among the items of one decode. */
  readonly id: string
  readonly tool: string
  /** Strict JSON; `{ $unparsed }` if the text received is not JSON, and then `fault` is set. */
  readonly args: JsonObject
  /** The exact text received, when it could not be parsed. */
  readonly rawArgs?: string
  /** Why the arguments were refused. Such a call is announced and settled, and never run. */
  readonly fault?: { readonly path: string; readonly rule: ArgumentRule }
  readonly wire: WireReference
  readonly executedBy: 'runner' | 'provider'
  readonly result?: CallResult
  /** Its `result` is a receipt: it runs in the background, and a message brings its result later. */
  readonly background?: true
  /** The call that it undoes, and who asked for that. Only the runner makes such a call, and no request shows it. */
  readonly undoes?: string
  readonly decidedBy?: string
  /**
   * The payload held only the result: `tool` and `args` are what could be read of it. It settles an
   * earlier call with the same `wire.callId`; without one, an encoder repairs it as a stray.
   */
  readonly resultOnly?: true
}

/** A call that only the provider or a person can settle: unfinished, or waiting for a decision. */
export interface OpenCallItem extends FromResponse, ForOthers, FromStream {
  readonly type: 'openCall'
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly wire: WireReference
  readonly executedBy: 'provider'
  /** Set when a person must decide before the provider continues. */
  readonly gate?: ProviderGate
}

/** A provider's request for a decision. */
export interface ProviderGate {
  readonly kind: 'approval' | 'consent'
  /** The server or connector that asks, as far as the wire names it. */
  readonly server?: string
  /** Where a person gives consent. */
  readonly url?: string
  /** Set once decided; encoding to the origin then sends the answer after the request. */
  readonly decision?: { readonly approved: boolean; readonly reason?: string }
}

/** Something of one wire that has no neutral form. It survives for its origin and is left out elsewhere. */
export interface RawItem {
  readonly type: 'raw'
  readonly api: string
  /** The wire value, verbatim. */
  readonly value: JsonValue
  /** Whose side of the conversation it stands on, where the wire tells. */
  readonly role?: 'user' | 'assistant'
  readonly response?: string
}

/** The result of a call. A result never exists without its call. */
export interface CallResult {
  readonly isError: boolean
  /** May be empty: some providers tell only that the call is over. */
  readonly parts: readonly ContentPart[]
  /** The wire's own form of the result, when it says more than `parts`. */
  readonly providerData?: ProviderData
}

/** What a message or a result is made of. */
export type ContentPart = TextPart | MediaPart

/** Text as the wire gave it. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** Citations, phases and the like. */
  readonly providerData?: ProviderData
}

/** Media by value or by reference; lazily read bytes become this before encoding. */
export interface MediaPart {
  readonly type: 'media'
  readonly kind: 'image' | 'audio' | 'video' | 'document'
  readonly mimeType?: string
  readonly filename?: string
  readonly source: MediaSource
  readonly providerData?: ProviderData
}

/** Where the bytes of a media part are. */
export type MediaSource =
  | { readonly type: 'base64'; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  /** A file that one provider stores; it means nothing to another. */
  | { readonly type: 'file'; readonly id: string; readonly api: string }
