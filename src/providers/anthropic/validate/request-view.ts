import type { JsonObject } from '../../../core/json/json.ts'
import { type JoinRule, joinNeighbours } from '../../../model/wire/join-neighbours.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import type { MessageParam } from '../wire/wire.ts'

/** A request, or the part of one, with each block and its place. */
export interface RequestView {
  readonly request: JsonObject
  readonly messages: readonly MessageView[]
  /** The same, with neighbouring messages of the assistant as one: the provider joins them. */
  readonly turns: readonly MessageView[]
  readonly blocks: readonly BlockView[]
  /** The turns as the types of the client have them. */
  readonly params: readonly MessageParam[]
}

export interface MessageView {
  readonly role: string
  readonly path: string
  readonly blocks: readonly BlockView[]
  /** True for a message of the operator that only sets something, and for one of a role that we do not know. */
  readonly mayBeEmpty: boolean
}

export interface BlockView {
  readonly block: JsonObject
  readonly type: string
  readonly path: string
  readonly role: string
}

const TURNS: JoinRule<MessageView> = {
  joins: (later, earlier) => later.role === 'assistant' && earlier.role === 'assistant',
  merge: (messages) => ({
    role: 'assistant',
    path: messages[0]?.path ?? '',
    blocks: messages.flatMap(({ blocks }) => blocks),
    mayBeEmpty: false,
  }),
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system'])

/** Reads any payload as a request; odd members break rules, not the reading. */
export function viewOf(payload: unknown): RequestView {
  const request = asObject(payload) ?? {}
  const list = Array.isArray(payload) ? payload : asList(request['messages'])
  const messages = list.map((value, index): MessageView => {
    const message = asObject(value)
    const role = asText(message?.['role']) ?? ''
    const path = `messages.${index}`
    // What a new role may hold is not known.
    const isNew = role !== '' && !ROLES.has(role)
    const blocks = isNew ? [] : blockViews(message?.['content'], role, path)
    const settings = asObject(message?.['output_config']) ?? {}
    const mayBeEmpty = isNew || (role === 'system' && Object.keys(settings).length > 0)
    return { role, path, blocks, mayBeEmpty }
  })
  const turns = joinNeighbours(messages, TURNS)
  return {
    request,
    messages,
    turns,
    blocks: messages.flatMap(({ blocks }) => blocks),
    params: turns.map(({ role, blocks }) => paramOf(role, blocks)),
  }
}

function paramOf(role: string, blocks: readonly BlockView[]): MessageParam {
  return { role, content: blocks.map(({ block }) => block) } as unknown as MessageParam
}

function blockViews(content: unknown, role: string, path: string): BlockView[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content)
  return blocks.map((value, index) => {
    const block = asObject(value) ?? {}
    const type = asText(block['type']) ?? ''
    return { block, type, path: `${path}.content.${index}`, role }
  })
}
