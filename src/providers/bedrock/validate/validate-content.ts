import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asList, asObject, asText } from '../../../model/wire/wire-value.ts'
import { isWordless } from '../encode/message-order.ts'
import { ID, NAME, taggedOf } from '../wire/wire.ts'
import type { RequestView } from './request-view.ts'

const ROLES: ReadonlySet<string> = new Set(['assistant', 'system', 'user'])
const OF_ASSISTANT: ReadonlySet<string> = new Set([
  'citationsContent',
  'reasoningContent',
  'toolUse',
])
const OF_USER: ReadonlySet<string> = new Set(['audio', 'document', 'image', 'video'])
/** Letters, digits, single spaces, hyphens, parentheses and square brackets. */
const DOCUMENT_NAME = /^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]{1,200}$/

/** What each block may hold, and on whose side it may stand. */
export const CONTENT_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'role',
    prevents: "Value … at 'messages.N.member.role' failed to satisfy constraint",
    *check({ messages }) {
      for (const { role, path } of messages) {
        if (!ROLES.has(role)) yield { path: `${path}.role`, message: `\`${role}\` is not a role` }
      }
    },
  },
  {
    rule: 'first-role',
    prevents: 'A conversation must start with a user message.',
    *check({ messages }) {
      const first = messages.find(({ role }) => role !== 'system')
      if (first?.role === 'assistant') {
        yield { path: first.path, message: 'the conversation begins with the assistant' }
      }
    },
  },
  {
    rule: 'alternation',
    prevents: 'A conversation must alternate between user and assistant roles.',
    *check({ messages }) {
      for (const { role, path, index } of messages) {
        if (role === 'system' || messages[index - 1]?.role !== role) continue
        yield { path, message: `follows another message of the ${role}` }
      }
    },
  },
  {
    rule: 'id-pattern',
    prevents:
      '…toolUseId failed to satisfy constraint: Member must satisfy regular expression pattern',
    *check({ blocks }) {
      for (const { tag, body, path } of blocks) {
        if (tag !== 'toolUse' && tag !== 'toolResult') continue
        if (ID.test(asText(asObject(body)?.['toolUseId']) ?? '')) continue
        yield { path: `${path}.${tag}.toolUseId`, message: `must match ${ID.source}` }
      }
    },
  },
  {
    rule: 'name-pattern',
    prevents:
      '…toolUse.name failed to satisfy constraint: Member must satisfy regular expression pattern',
    *check({ blocks }) {
      for (const { tag, body, path } of blocks) {
        if (tag !== 'toolUse' || NAME.test(asText(asObject(body)?.['name']) ?? '')) continue
        yield { path: `${path}.toolUse.name`, message: `must match ${NAME.source}` }
      }
    },
  },
  {
    rule: 'input-object',
    prevents: 'The format of the value at messages.N.content.N.toolUse.input is invalid.',
    *check({ blocks }) {
      for (const { tag, body, path } of blocks) {
        if (tag !== 'toolUse' || asObject(asObject(body)?.['input']) !== undefined) continue
        yield { path: `${path}.toolUse.input`, message: 'must be an object' }
      }
    },
  },
  {
    rule: 'side',
    prevents: 'messages.N.content.N: the block is not supported in messages of this role',
    *check({ blocks }) {
      for (const { tag, role, path } of blocks) {
        const isMisplaced =
          (OF_ASSISTANT.has(tag) && role === 'user') || (OF_USER.has(tag) && role === 'assistant')
        if (isMisplaced) yield { path, message: `\`${tag}\` stands in a message of the ${role}` }
      }
    },
  },
  {
    rule: 'blank-text',
    prevents: 'The text field in the ContentBlock object at messages.N.content.N is blank.',
    *check({ blocks, request }) {
      for (const { tag, body, path } of blocks) {
        if (tag === 'text' && !asText(body)?.trim())
          yield { path: `${path}.text`, message: 'is blank' }
        if (tag !== 'toolResult') continue
        yield* blankTexts(asObject(body)?.['content'], `${path}.toolResult.content`)
      }
      yield* blankTexts(request['system'], 'system')
    },
  },
  {
    rule: 'empty-message',
    prevents: 'The content field in the Message object at messages.N is empty.',
    *check({ messages }) {
      for (const { blocks, path } of messages) {
        if (blocks.length === 0) yield { path: `${path}.content`, message: 'is empty' }
      }
    },
  },
  {
    rule: 'empty-error',
    prevents:
      'The content field at messages.N.content.N.toolResult cannot be empty when status value is error.',
    *check({ blocks }) {
      for (const { tag, body, path } of blocks) {
        const result = tag === 'toolResult' ? asObject(body) : undefined
        if (result?.['status'] !== 'error' || asList(result['content']).length > 0) continue
        yield { path: `${path}.toolResult.content`, message: 'is empty' }
      }
    },
  },
  {
    rule: 'document-name',
    prevents:
      'The document file name can only contain alphanumeric characters, whitespace characters, …',
    *check({ blocks }) {
      for (const { tag, body, path } of blocks) {
        if (tag !== 'document' || DOCUMENT_NAME.test(asText(asObject(body)?.['name']) ?? ''))
          continue
        yield { path: `${path}.document.name`, message: `must match ${DOCUMENT_NAME.source}` }
      }
    },
  },
  {
    rule: 'document-text',
    prevents: 'A document block needs a text block in the same message.',
    *check({ messages }) {
      for (const { blocks, role, path } of messages) {
        const content = blocks.map(({ tag, body }) => ({ [tag]: body }))
        if (role !== 'user' || !isWordless({ content })) continue
        yield { path: `${path}.content`, message: 'has a document and no text' }
      }
    },
  },
]

function* blankTexts(list: unknown, path: string) {
  for (const [index, value] of asList(list).entries()) {
    const { tag, body } = taggedOf(value) ?? {}
    if (tag === 'text' && !asText(body)?.trim()) {
      yield { path: `${path}.${index}.text`, message: 'is blank' }
    }
  }
}
