import { isUrlSafeBase64 } from '../../../core/base64.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import {
  CLIENT_ID,
  isCall,
  isOnlyInMessages,
  isServerResult,
  isServerUse,
  SERVER_ID,
  SERVER_TOOLS,
} from '../wire/server-tools.ts'
import type { BlockView, RequestView } from './request-view.ts'

const MAX_MESSAGES = 100_000
const MAX_CACHE_BREAKPOINTS = 4

const THINKING: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking'])
const isUse = ({ type }: BlockView) => isCall(type)

/** The id that a block carries, and the pattern that it must match. */
function idOf({ block, type }: BlockView): readonly [member: string, pattern: RegExp] | undefined {
  if (type === 'server_tool_use') return ['id', SERVER_ID]
  if (isServerUse(type) || type === 'tool_use') return ['id', CLIENT_ID]
  if (type === 'tool_result' || type === 'mcp_tool_result') return ['tool_use_id', CLIENT_ID]
  return isServerResult(type) && block['tool_use_id'] !== undefined
    ? ['tool_use_id', SERVER_ID]
    : undefined
}

const URL_SAFE = 'is URL-safe base64: write it in the standard alphabet'

function isUrlSafeMedia({ type, source }: JsonObject): boolean {
  const held = type === 'image' || type === 'document' ? asObject(source) : undefined
  return held?.['type'] === 'base64' && isUrlSafeBase64(asText(held['data']) ?? '')
}

/** What each block may hold, and on whose side it may stand. */
export const CONTENT_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'id-pattern',
    prevents: "…id: String should match pattern '^[a-zA-Z0-9_-]+$' or '^srvtoolu_[a-zA-Z0-9_]+$'",
    *check({ blocks }) {
      for (const view of blocks) {
        const [member, pattern] = idOf(view) ?? []
        if (member === undefined || pattern === undefined) continue
        const id = view.block[member]
        if (typeof id === 'string' && pattern.test(id)) continue
        yield { path: `${view.path}.${member}`, message: `must match ${pattern.source}` }
      }
    },
  },
  {
    rule: 'server-tool-name',
    prevents: "name: Input should be 'web_search', 'web_fetch', 'code_execution', …",
    *check({ blocks }) {
      for (const { block, type, path } of blocks) {
        const name = asText(block['name']) ?? ''
        if (type !== 'server_tool_use' || SERVER_TOOLS.has(name)) continue
        yield { path: `${path}.name`, message: `\`${name}\` is not a server tool` }
      }
    },
  },
  {
    rule: 'name-length',
    prevents: 'tool_use.name: String should have at least 1 and at most 200 characters',
    *check({ blocks }) {
      for (const view of blocks.filter(isUse)) {
        const { length } = asText(view.block['name']) ?? ''
        if (length >= 1 && length <= 200) continue
        yield { path: `${view.path}.name`, message: `is ${length} characters, not 1 to 200` }
      }
    },
  },
  {
    rule: 'input-object',
    prevents: 'tool_use.input: Input should be a valid dictionary',
    *check({ blocks }) {
      for (const view of blocks.filter(isUse)) {
        if (asObject(view.block['input']) !== undefined) continue
        yield { path: `${view.path}.input`, message: 'must be an object' }
      }
    },
  },
  {
    rule: 'result-role',
    prevents: '`tool_result` blocks can only be in `user` messages',
    *check({ blocks }) {
      for (const { type, role, path } of blocks) {
        if (type !== 'tool_result' || role === 'user') continue
        yield { path, message: `stands in a message of the ${role}` }
      }
    },
  },
  {
    rule: 'assistant-role',
    prevents: '`tool_use` blocks can only be in `assistant` messages',
    *check({ blocks }) {
      for (const view of blocks) {
        const { type, role, path } = view
        const isOwn = isUse(view) || isServerResult(type) || THINKING.has(type)
        if (!isOwn || role === 'assistant') continue
        yield { path, message: `\`${type}\` stands in a message of the ${role}` }
      }
    },
  },
  {
    rule: 'assistant-media',
    prevents: 'messages.N.content.N: `image` blocks are not permitted within assistant turns',
    *check({ blocks }) {
      for (const { type, role, path } of blocks) {
        if (role === 'user' || (type !== 'image' && type !== 'document')) continue
        yield { path, message: `\`${type}\` stands in a message of the ${role}` }
      }
    },
  },
  {
    rule: 'user-citations',
    prevents: 'a 400 of API version 2026-10-21 for a text of the user that has citations',
    *check({ blocks }) {
      for (const { block, type, role, path } of blocks) {
        if (role !== 'user') continue
        const texts = type === 'search_result' ? asList(block['content']) : [block]
        const isCiting = texts.some((text) => asList(asObject(text)?.['citations']).length > 0)
        if (isCiting) yield { path, message: 'only a text of the assistant has citations' }
      }
    },
  },
  {
    rule: 'tool-change-role',
    prevents: '`tool_addition` and `tool_removal` blocks can only be in `system` messages',
    *check({ blocks }) {
      for (const { type, role, path } of blocks) {
        if ((type !== 'tool_addition' && type !== 'tool_removal') || role === 'system') continue
        yield { path, message: `\`${type}\` stands in a message of the ${role}` }
      }
    },
  },
  {
    rule: 'encrypted-content',
    prevents: 'web_search_result.encrypted_content: Field required',
    *check({ blocks }) {
      for (const { block, type, path } of blocks) {
        if (type !== 'web_search_tool_result') continue
        for (const [index, value] of asList(block['content']).entries()) {
          if (asText(asObject(value)?.['encrypted_content'])) continue
          yield { path: `${path}.content.${index}.encrypted_content`, message: 'is missing' }
        }
      }
    },
  },
  {
    rule: 'thinking-signature',
    prevents:
      '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    *check({ blocks }) {
      for (const { block, type, path } of blocks) {
        const member = type === 'thinking' ? 'signature' : 'data'
        if (!THINKING.has(type) || asText(block[member])) continue
        yield { path: `${path}.${member}`, message: 'is missing' }
      }
    },
  },
  {
    rule: 'thinking-last',
    prevents: 'messages.N: The final block in an assistant message cannot be `thinking`.',
    *check({ messages }) {
      for (const { blocks } of messages) {
        const last = blocks.at(-1)
        if (last === undefined || !THINKING.has(last.type)) continue
        yield { path: last.path, message: 'reasoning must be followed by what it led to' }
      }
    },
  },
  {
    rule: 'blank-text',
    prevents: 'messages: text content blocks must contain non-whitespace text',
    *check({ blocks }) {
      for (const { block, type, path } of blocks) {
        if (type !== 'text' || asText(block['text'])?.trim()) continue
        yield { path: `${path}.text`, message: 'is blank' }
      }
    },
  },
  {
    rule: 'empty-message',
    prevents: 'messages.N: all messages must have non-empty content',
    *check({ messages }) {
      for (const { blocks, path, mayBeEmpty } of messages) {
        if (blocks.length === 0 && !mayBeEmpty)
          yield { path: `${path}.content`, message: 'is empty' }
      }
    },
  },
  {
    rule: 'result-content',
    prevents: 'tool_result.content.N: Input tag … does not match any of the expected tags',
    *check({ blocks }) {
      for (const { block, type, path } of blocks) {
        if (type !== 'tool_result' && type !== 'mcp_tool_result') continue
        for (const [index, value] of asList(block['content']).entries()) {
          const tag = asText(asObject(value)?.['type']) ?? ''
          if (type === 'tool_result' ? tag !== '' && !isOnlyInMessages(tag) : tag === 'text')
            continue
          yield { path: `${path}.content.${index}`, message: `a result cannot hold \`${tag}\`` }
        }
      }
    },
  },
  {
    rule: 'base64',
    prevents: 'messages.N.content.N.image.source.base64: invalid base64 data',
    *check({ blocks }) {
      for (const { block, type, path } of blocks) {
        const inside = type === 'tool_result' ? asList(block['content']) : []
        if (isUrlSafeMedia(block)) yield { path: `${path}.source.data`, message: URL_SAFE }
        for (const [index, value] of inside.entries()) {
          if (!isUrlSafeMedia(asObject(value) ?? {})) continue
          yield { path: `${path}.content.${index}.source.data`, message: URL_SAFE }
        }
      }
    },
  },
  {
    rule: 'cache-breakpoints',
    prevents: 'A maximum of 4 blocks with cache_control may be provided.',
    *check({ blocks, request }) {
      const outside = [...asList(request['system']), ...asList(request['tools'])]
      const marked = [...blocks.map(({ block }) => block), ...outside]
      const count = marked.filter((block) => asObject(block)?.['cache_control']).length
      if (count <= MAX_CACHE_BREAKPOINTS) return
      yield { path: 'messages', message: `has ${count} cache breakpoints` }
    },
  },
  {
    rule: 'message-count',
    prevents: 'There is a limit of 100,000 messages in a single request.',
    *check({ messages }) {
      if (messages.length <= MAX_MESSAGES) return
      yield { path: 'messages', message: `holds ${messages.length} messages` }
    },
  },
]
