import { sha256Hex } from '#hash'
import { canonicalStringify } from '../../../core/json/canonical.ts'
import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { callArguments } from '../../../model/events/call-arguments.ts'
import { asList, asObject, asText, jsonText } from '../../../model/wire/wire-value.ts'
import { isCall } from '../wire/server-tools.ts'

/**
 * A digest of everything that stands before a place in a request: system prompt, tools and blocks, without reasoning.
 * Only what the provider compares counts: neither the order of keys or tools, nor cache markers, nor which of two
 * forms a text has.
 */
export class Prefix {
  digest: string
  /** Tools that the model does not see yet; they count from the first block that names them. */
  #deferred: readonly JsonObject[]

  constructor({ system, tools }: { readonly system?: unknown; readonly tools?: unknown }) {
    const all = asList(tools as JsonValue).map((tool) => unmarked(asObject(tool) ?? {}))
    this.#deferred = all.filter((tool) => tool['defer_loading'] === true)
    const seen = all.filter((tool) => tool['defer_loading'] !== true).map(canonicalStringify)
    const told = blocksIn(system as JsonValue).map(unmarked)
    this.digest = sha256Hex(canonicalStringify({ system: told, tools: seen.toSorted() }))
  }

  /** Another one that continues from here. */
  fork(): Prefix {
    const copy = new Prefix({})
    copy.digest = this.digest
    copy.#deferred = this.#deferred
    return copy
  }

  startMessage(role: string): void {
    this.#add(role)
  }

  add(block: JsonObject): void {
    // The wire refuses blank texts, also those that it gave itself.
    if (block['type'] === 'text' && !asText(block['text'])?.trim()) return
    const text = textOf(comparable(block))
    const named = this.#deferred.filter((tool) => text.includes(JSON.stringify(tool['name'])))
    if (named.length > 0) this.#deferred = this.#deferred.filter((tool) => !named.includes(tool))
    this.#add(named.length === 0 ? text : `${text} ${canonicalStringify(named)}`)
  }

  #add(text: string): void {
    this.digest = sha256Hex(`${this.digest} ${text}`)
  }
}

/** The blocks of a content; a text stands for one block. */
export function blocksIn(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return asList(content).map((block) => asObject(block) ?? {})
}

function comparable(block: JsonObject): JsonObject {
  const plain = unmarked(block)
  // A response has the arguments as text, a request has them as an object.
  if (isCall(plain['type'])) {
    return { ...plain, input: asObject(plain['input']) ?? callArguments(plain['input']).args }
  }
  if (plain['type'] !== 'tool_result' || plain['content'] === undefined) return plain
  return { ...plain, content: blocksIn(plain['content']).map(unmarked) }
}

/** Without cache markers and without members that are null, which a response has and a request has not. */
function unmarked(block: JsonObject): JsonObject {
  const counts = ([name, value]: [string, JsonValue]) => name !== 'cache_control' && value !== null
  return Object.fromEntries(Object.entries(block).filter(counts))
}

/** A block may nest deeper than canonical JSON allows; it must not end the conversation here. */
function textOf(block: JsonObject): string {
  try {
    return canonicalStringify(block)
  } catch {
    return jsonText(block)
  }
}
