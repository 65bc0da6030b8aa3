import { sha256Hex } from '#hash'
import { thrownText } from '../../core/error/thrown-text.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { refuseWrongHeaders } from './argument-headers.ts'
import { isJsonObject, type SafeSchema, safeSchema } from './safe-schema.ts'
import { hidesSomething, shownBriefly } from './stranger-text.ts'

/** What a server says about the effect of a tool: hints, by its own word. */
export interface McpAnnotations {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A tool as its server describes it: bounded, with every hidden character shown. */
export interface McpToolInfo {
  /** Its name on the server. */
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly annotations: McpAnnotations
}

/** A definition that can be used. */
export interface Definition extends McpToolInfo {
  readonly input: SafeSchema
  readonly output: SafeSchema | undefined
  /** Of the definition as the server sent it. */
  readonly digest: string
  /** The input schema as the server sent it; the client reads from it which arguments become headers. */
  readonly rawInput: JsonObject
}

const MAX_DEFINITION = 2 * 1024 * 1024
const MAX_DESCRIPTION = 4_096
const MAX_TITLE = 200
const MAX_NAME = 256

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** Reads one entry of a server's list. Throws a plain error that says why it cannot be used. */
export function readDefinition(given: unknown): Definition {
  if (!isJsonObject(given)) throw new Error('it is not an object')
  const { name, title, description, inputSchema, outputSchema, annotations } = given
  if (typeof name !== 'string' || name === '') throw new Error('it has no name')
  if (name.length > MAX_NAME) throw new Error(`its name has more than ${MAX_NAME} characters`)
  if (hidesSomething(name) || /[\r\n\t]/.test(name))
    throw new Error('its name has hidden characters')
  const input = safeSchema(inputSchema)
  if (input.shown['type'] !== 'object') throw new Error('its input schema is not that of an object')
  refuseWrongHeaders(input.shown)
  return {
    name,
    ...(typeof title === 'string' && { title: shownBriefly(title, MAX_TITLE) }),
    description: typeof description === 'string' ? shownBriefly(description, MAX_DESCRIPTION) : '',
    annotations: hintsOf(annotations),
    input,
    output: outputSchema === undefined ? undefined : safeSchema(outputSchema),
    digest: digestOf({ name, title, description, inputSchema, outputSchema, annotations }),
    rawInput: inputSchema as JsonObject,
  }
}

function hintsOf(annotations: unknown): McpAnnotations {
  if (!isJsonObject(annotations)) return {}
  const given = HINTS.filter((hint) => typeof annotations[hint] === 'boolean')
  return Object.fromEntries(given.map((hint) => [hint, annotations[hint]]))
}

function digestOf(definition: Readonly<Record<string, unknown>>): string {
  let text: string
  try {
    text = canonicalStringify(definition)
  } catch (error) {
    throw new Error(`it cannot be read: ${shownBriefly(thrownText(error), 200)}`, { cause: error })
  }
  if (text.length > MAX_DEFINITION) {
    throw new Error(`its definition has more than ${MAX_DEFINITION} characters`)
  }
  return sha256Hex(text)
}
