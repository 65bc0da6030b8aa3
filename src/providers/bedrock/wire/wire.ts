import type { ContentBlock, Message } from '@aws-sdk/client-bedrock-runtime'
import { bytesToBase64 } from '../../../core/base64.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import type { DecodeContext } from '../../../model/wire/wire-adapter.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'

export const API = 'bedrock-converse'
export const PROVIDER = 'aws-bedrock'

/** What the id of a call looks like; newer versions of the wire take dots and colons too. */
export const ID = /^[a-zA-Z0-9_.:-]{1,64}$/
/** What the name of a tool looks like. */
export const NAME = /^[a-zA-Z0-9_-]{1,64}$/

type Names<Union> = Union extends unknown ? Exclude<keyof Union, '$unknown'> : never

/** The members of which a content block has exactly one. */
export type Tag = Names<ContentBlock>

/** A content block as JSON has it: bytes are base64. */
export type Block = JsonObject

/** A message of a request as JSON has it. */
export interface ConverseMessage {
  readonly role: NonNullable<Message['role']>
  readonly content: Block[]
}

/** The part of a request that holds the conversation. */
export interface ConversePart {
  readonly system?: Block[]
  readonly messages: ConverseMessage[]
}

/** A response, whole or put together from events. */
export interface ConverseReply {
  readonly content?: JsonValue
  readonly stopReason?: JsonValue
  readonly usage?: JsonValue
}

/** A block by its member. */
export interface Tagged {
  readonly tag: string
  /** What the member holds; a text or an object for all kinds that we know. */
  readonly body: JsonValue
}

const TAGS: Readonly<Record<Tag, true>> = {
  audio: true,
  cachePoint: true,
  citationsContent: true,
  document: true,
  guardContent: true,
  image: true,
  reasoningContent: true,
  searchResult: true,
  text: true,
  toolAddition: true,
  toolRemoval: true,
  toolResult: true,
  toolUse: true,
  video: true,
}

export const isTag = (name: string): name is Tag => Object.hasOwn(TAGS, name)

/** Reads a block, also one that the client wrapped because it did not know its kind. */
export function taggedOf(value: unknown): Tagged | undefined {
  const block = asObject(value)
  if (block === undefined) return undefined
  const { $unknown } = block
  if (Array.isArray($unknown)) {
    const [tag, body] = $unknown as readonly JsonValue[]
    return { tag: asText(tag) ?? '', body: body ?? null }
  }
  // The client lists every member of a union that it knows, most of them undefined.
  const names = Object.keys(block).filter((name) => isThere(block[name]))
  const tag = names.find(isTag) ?? names[0]
  return tag === undefined ? undefined : { tag, body: block[tag] as JsonValue }
}

const isThere = (value: unknown) => value !== undefined && value !== null

/** Bytes as base64: JSON has them as a text, the client as bytes. */
export function bytesText(value: unknown): string | undefined {
  return value instanceof Uint8Array ? bytesToBase64(value) : asText(value)
}

/** Deeper than any block nests bytes. */
const MAX_DEPTH = 8

/** The value as JSON: bytes become base64, members that are undefined are left out. */
export function asJson(value: unknown, depth = 0): JsonValue {
  if (value instanceof Uint8Array) return bytesToBase64(value)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value as JsonValue
  if (Array.isArray(value)) return value.map((member) => asJson(member, depth + 1))
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, asJson(member, depth + 1)]))
}

/** Where opaque state may be replayed. */
export function keyOf({ endpoint, modelFamily }: Pick<DecodeContext, 'endpoint' | 'modelFamily'>) {
  return {
    api: API,
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  }
}

/** What an object holds besides the members named; undefined when there is nothing. */
export function extrasOf(
  object: JsonObject | undefined,
  ...members: readonly string[]
): JsonObject | undefined {
  const extras = Object.entries(object ?? {}).filter(
    ([name, value]) => !members.includes(name) && isThere(value),
  )
  return extras.length === 0 ? undefined : Object.fromEntries(extras)
}
