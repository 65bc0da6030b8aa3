import type { Content } from '@google/genai'
import type { JsonValue } from '../../../core/json/json.ts'
import type { EncodeOptions } from '../../../model/wire/encode-groups.ts'
import type { ProviderKey } from '../../../model/wire/provider-data.ts'
import type { DecodeContext } from '../../../model/wire/wire-adapter.ts'

export const API = 'gemini'
export const PROVIDER = 'google'
/** The `endpoint` of the backend that is stricter than the Developer API. */
export const VERTEX = 'vertex'

/** A part of a content, as far as we read it. Tolerant: every member may be missing or odd. */
export interface WirePart {
  readonly text?: JsonValue
  readonly thought?: JsonValue
  readonly thoughtSignature?: JsonValue
  readonly functionCall?: JsonValue
  readonly functionResponse?: JsonValue
  readonly executableCode?: JsonValue
  readonly codeExecutionResult?: JsonValue
  readonly toolCall?: JsonValue
  readonly toolResponse?: JsonValue
  readonly inlineData?: JsonValue
  readonly fileData?: JsonValue
  readonly [member: string]: JsonValue
}

/** A whole response, or one chunk of a streamed one: they have the same form. */
export interface GeminiResponse {
  readonly candidates?: JsonValue
  readonly promptFeedback?: JsonValue
  readonly usageMetadata?: JsonValue
  readonly responseId?: JsonValue
  readonly error?: JsonValue
}

/** The part of a request that holds the conversation, in the client's own words. */
export interface GeminiPart {
  readonly contents: Content[]
  readonly systemInstruction?: Content
}

/** What a part may hold; one of these says what it is. */
export const PART_KINDS = [
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
  'inlineData',
  'fileData',
  'text',
] as const

export type PartKind = (typeof PART_KINDS)[number]

/** What a part is; undefined for kinds that we do not know. */
export function kindOf(part: WirePart): PartKind | undefined {
  // A loop and no closure: this runs for every chunk of a stream.
  for (const kind of PART_KINDS) if (part[kind] !== undefined && part[kind] !== null) return kind
  return undefined
}

/** The key under which opaque state is sealed, or may be opened. */
export function keyOf({ endpoint, modelFamily }: DecodeContext | EncodeOptions): ProviderKey {
  return {
    api: API,
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  }
}
