import type { JsonObject } from '../../../../core/json/json.ts'
import { applyRules, type Violation, type WireRule } from '../../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText, isJson } from '../../../../model/wire/wire-value.ts'
import { URL_SAFE, urlSafeMedia } from '../../inline-media.ts'
import { MAX_ID } from '../wire/quirks.ts'

/** A request, or the part of one, with each message and its place. */
export interface RequestView {
  readonly request: JsonObject
  readonly messages: readonly MessageView[]
}

interface MessageView {
  readonly message: JsonObject
  readonly path: string
  readonly role: string
  readonly calls: readonly {
    readonly call: JsonObject
    readonly id: string
    readonly path: string
  }[]
}

const MAX_TOOLS = 128
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

// A tool message has a stricter rule of its own.
const NEED_CONTENT = new Set(['system', 'developer', 'user', 'assistant'])

/** The tool messages directly after the message at `index`. */
function answersBehind(messages: readonly MessageView[], index: number): readonly MessageView[] {
  const end = messages.findIndex((view, at) => at > index && view.role !== 'tool')
  return messages.slice(index + 1, end === -1 ? undefined : end)
}

const idOf = ({ message }: MessageView) => asText(message['tool_call_id']) ?? ''

export const CHAT_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'unanswered-call',
    prevents:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    *check({ messages }) {
      for (const [index, { calls }] of messages.entries()) {
        if (calls.length === 0) continue
        const answered = new Set(answersBehind(messages, index).map(idOf))
        for (const { id, path } of calls) {
          if (!answered.has(id)) {
            yield { path, message: `the call \`${id}\` has no tool message directly after it` }
          }
        }
      }
    },
  },
  {
    rule: 'stray-tool-message',
    prevents:
      "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    *check({ messages }) {
      let open = new Set<string>()
      for (const view of messages) {
        if (view.role !== 'tool') {
          open = new Set(view.calls.map(({ id }) => id))
        } else if (!open.delete(idOf(view))) {
          const message = `answers \`${idOf(view)}\`, which the message before does not ask for, or not twice`
          yield { path: view.path, message }
        }
      }
    },
  },
  {
    rule: 'missing-call-id',
    prevents: "Missing required parameter: 'messages[…].tool_calls[…].id'.",
    *check({ messages }) {
      for (const { calls } of messages) {
        for (const { id, path } of calls) {
          if (id === '') yield { path: `${path}.id`, message: 'must be there and not be empty' }
        }
      }
    },
  },
  {
    rule: 'call-id-length',
    prevents:
      "Invalid 'messages[…].tool_calls[…].id': string too long. Expected a string with maximum length 64",
    *check({ messages }) {
      for (const { calls } of messages) {
        for (const { id, path } of calls) {
          if (id.length <= MAX_ID) continue
          yield { path: `${path}.id`, message: `is ${id.length} characters, not 1 to ${MAX_ID}` }
        }
      }
    },
  },
  {
    rule: 'duplicate-call-id',
    prevents:
      "An assistant message with 'tool_calls' must be followed by tool messages … (two calls share one id)",
    *check({ messages }) {
      const seen = new Set<string>()
      for (const { calls } of messages) {
        for (const { id, path } of calls) {
          if (seen.has(id)) yield { path: `${path}.id`, message: `\`${id}\` is there twice` }
          seen.add(id)
        }
      }
    },
  },
  {
    rule: 'call-shape',
    prevents:
      "Invalid 'messages[…].tool_calls[…].function.name'; Invalid type for '…function.arguments': expected a string",
    *check({ messages }) {
      for (const { calls } of messages) {
        for (const { call, path } of calls) {
          const kind = call['type'] === 'custom' ? 'custom' : 'function'
          const asked = asObject(call[kind])
          if (!NAME.test(asText(asked?.['name']) ?? '')) {
            yield { path: `${path}.${kind}.name`, message: 'is not a valid tool name' }
          }
          const member = kind === 'custom' ? 'input' : 'arguments'
          if (asText(asked?.[member]) === undefined) {
            yield { path: `${path}.${kind}.${member}`, message: 'must be text' }
          }
        }
      }
    },
  },
  {
    rule: 'arguments-not-json',
    prevents:
      'a 400 or 500 of servers that parse the arguments of the history, e.g. "Expecting value: line 1 column 1"',
    *check({ messages }) {
      for (const { calls } of messages) {
        for (const { call, path } of calls) {
          // A server that writes every member writes an empty one into custom calls.
          if (call['type'] === 'custom') continue
          const text = asText(asObject(call['function'])?.['arguments'])
          if (text === undefined || isJson(text)) continue
          yield { path: `${path}.function.arguments`, message: 'must be JSON' }
        }
      }
    },
  },
  {
    rule: 'empty-calls',
    prevents:
      "Invalid 'messages[…].tool_calls': empty array. Expected an array with minimum length 1",
    *check({ messages }) {
      for (const { message, path, role } of messages) {
        const calls = message['tool_calls']
        if (role === 'assistant' && Array.isArray(calls) && calls.length === 0) {
          yield { path: `${path}.tool_calls`, message: 'must hold a call or be left out' }
        }
      }
    },
  },
  {
    rule: 'tool-content',
    prevents: "Invalid value for 'messages[…].content': tool messages take text only",
    *check({ messages }) {
      for (const { message, path, role } of messages) {
        if (role !== 'tool') continue
        const content = message['content']
        const isText = (part: unknown) => asObject(part)?.['type'] === 'text'
        if (typeof content === 'string') continue
        if (Array.isArray(content) && content.length > 0 && content.every(isText)) continue
        yield { path: `${path}.content`, message: 'must be text or parts of text' }
      }
    },
  },
  {
    rule: 'missing-content',
    prevents: "Invalid value for 'content': expected a string, got null.",
    *check({ messages }) {
      for (const { message, path, role, calls } of messages) {
        const content = message['content']
        if ((content !== undefined && content !== null) || !NEED_CONTENT.has(role)) continue
        const stands = ['refusal', 'audio', 'function_call'].some((name) => message[name])
        if (role === 'assistant' && (calls.length > 0 || stands)) continue
        yield { path: `${path}.content`, message: `a message of role \`${role}\` needs content` }
      }
    },
  },
  {
    rule: 'base64',
    prevents: "Invalid 'messages[…].content[…].image_url.url'. Expected a base64-encoded data URL",
    *check({ messages }) {
      for (const { message, path } of messages) {
        for (const place of urlSafeMedia(message)) {
          yield { path: `${path}.${place}`, message: URL_SAFE }
        }
      }
    },
  },
  {
    rule: 'too-many-tools',
    prevents: "Invalid 'tools': array too long. Expected an array with maximum length 128",
    *check({ request }) {
      const { length } = asList(request['tools'])
      if (length > MAX_TOOLS) yield { path: 'tools', message: `${length} tools are too many` }
    },
  },
]

/** Applies the rules to a request, its `messages`, or one message. */
export function validateRequest(
  payload: unknown,
  rules: readonly WireRule<RequestView>[] = CHAT_RULES,
): readonly Violation[] {
  const object = asObject(payload)
  const isMessage = object?.['role'] !== undefined
  const request = object === undefined || isMessage ? {} : object
  const list = isMessage ? [object] : asList(object === undefined ? payload : object['messages'])
  const messages = list.map((value, index) => messageView(asObject(value) ?? {}, index))
  return applyRules(rules, { request, messages })
}

function messageView(message: JsonObject, index: number): MessageView {
  const path = `messages[${index}]`
  const role = asText(message['role']) ?? ''
  // Only the assistant asks; elsewhere the member means nothing.
  const calls = role === 'assistant' ? asList(message['tool_calls']) : []
  return {
    message,
    path,
    role,
    calls: calls.map((value, at) => {
      const call = asObject(value) ?? {}
      return { call, id: asText(call['id']) ?? '', path: `${path}.tool_calls[${at}]` }
    }),
  }
}
