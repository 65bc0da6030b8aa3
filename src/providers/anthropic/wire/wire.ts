import type Anthropic from '@anthropic-ai/sdk'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { DecodeContext } from '../../../model/wire/wire-adapter.ts'

export const API = 'anthropic-messages'
export const PROVIDER = 'anthropic'

/** A content block, as far as we read it. Tolerant: every member may be missing or odd. */
export type Block = JsonObject

/** A response, whole or put together from events. */
export interface MessagesResponse {
  readonly id?: JsonValue
  readonly content?: JsonValue
  readonly container?: JsonValue
  readonly stop_reason?: JsonValue
  readonly usage?: JsonValue
  readonly diagnostics?: JsonValue
}

/** A stream event. Only `index` says which block it belongs to. */
export interface MessagesEvent {
  readonly type?: JsonValue
  readonly index?: JsonValue
  readonly message?: JsonValue
  readonly content_block?: JsonValue
  readonly delta?: JsonValue
  readonly usage?: JsonValue
  readonly error?: JsonValue
}

/** What we send: the beta types hold the stable ones and the blocks of hosted MCP servers besides. */
export type MessageParam = Anthropic.Beta.BetaMessageParam
export type BlockParam = Anthropic.Beta.BetaContentBlockParam
export type TextParam = Anthropic.Beta.BetaTextBlockParam

/** The part of a request that holds the conversation. */
export interface MessagesPart {
  readonly system?: string | TextParam[]
  readonly messages: MessageParam[]
  /** The sandbox that code of earlier responses ran in. */
  readonly container?: string
}

/** Where opaque state may be replayed. */
export function keyOf({ endpoint, modelFamily }: Pick<DecodeContext, 'endpoint' | 'modelFamily'>) {
  return {
    api: API,
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  }
}

/** What a block holds besides the members named; undefined when there is nothing. */
export function extrasOf(block: Block, ...members: readonly string[]): JsonObject | undefined {
  const extras = Object.entries(block).filter(([name]) => !members.includes(name))
  return extras.length === 0 ? undefined : Object.fromEntries(extras)
}
