import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import { isServerUse } from '../decode/decode-block.ts'
import { taggedOf } from '../wire/wire.ts'

/** A request, or the part of one, with each block and its place. */
export interface RequestView {
  readonly request: JsonObject
  readonly messages: readonly MessageView[]
  readonly blocks: readonly BlockView[]
}

export interface MessageView {
  readonly role: string
  readonly path: string
  readonly index: number
  readonly blocks: readonly BlockView[]
}

export interface BlockView {
  readonly tag: string
  readonly body: JsonValue
  readonly path: string
  readonly role: string
}

/** Reads any payload as a request; odd members break rules, not the reading. */
export function viewOf(payload: unknown): RequestView {
  const request = asObject(payload) ?? {}
  const list = Array.isArray(payload) ? payload : asList(request['messages'])
  const messages = list.map((value, index): MessageView => {
    const message = asObject(value)
    const role = asText(message?.['role']) ?? ''
    const path = `messages.${index}`
    return { role, path, index, blocks: blockViews(message?.['content'], role, path) }
  })
  return { request, messages, blocks: messages.flatMap(({ blocks }) => blocks) }
}

function blockViews(content: unknown, role: string, path: string): BlockView[] {
  return asList(content).map((value, index) => {
    const { tag = '', body = null } = taggedOf(value) ?? {}
    return { tag, body, path: `${path}.content.${index}`, role }
  })
}

/** The call that a block holds and the runner answers. */
export function runnerUse({ tag, body }: BlockView): JsonObject | undefined {
  const use = tag === 'toolUse' ? asObject(body) : undefined
  return isServerUse(use) ? undefined : use
}

/** The result that a block of the user holds. */
export function runnerResult({ tag, body, role }: BlockView): JsonObject | undefined {
  return tag === 'toolResult' && role === 'user' ? asObject(body) : undefined
}
