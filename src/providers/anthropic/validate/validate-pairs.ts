import type { WireRule } from '../../../model/wire/wire-adapter.ts'
import { asText } from '../../../model/wire/wire-value.ts'
import { codeCaller, danglingUses, isServerResult, isServerUse } from '../wire/server-tools.ts'
import type { BlockView, MessageView, RequestView } from './request-view.ts'

const idOf = ({ block }: BlockView) => asText(block['id'])
const answers = ({ block }: BlockView) => asText(block['tool_use_id'])
const isUse = ({ type }: BlockView) => type === 'tool_use'
const isResult = ({ type }: BlockView) => type === 'tool_result'

/** The results that open a message; one behind anything else does not count. */
function leadingResults(message: MessageView | undefined): readonly (string | undefined)[] {
  if (message?.role !== 'user') return []
  const end = message.blocks.findIndex((view) => !isResult(view))
  return message.blocks.slice(0, end === -1 ? undefined : end).map(answers)
}

function* repeated(uses: readonly BlockView[]): Generator<{ path: string; message: string }> {
  const seen = new Set<string | undefined>()
  for (const view of uses) {
    const id = idOf(view)
    if (seen.has(id)) yield { path: `${view.path}.id`, message: `${id} is there twice` }
    seen.add(id)
  }
}

/** Which result answers which call, and where each may stand. */
export const PAIRING_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'missing-result',
    prevents:
      'messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: …',
    *check({ turns }) {
      for (const [index, { blocks, role }] of turns.entries()) {
        if (role !== 'assistant') continue
        const answered = leadingResults(turns[index + 1])
        for (const view of blocks.filter(isUse)) {
          if (answered.includes(idOf(view))) continue
          yield {
            path: view.path,
            message: `\`tool_use\` ${idOf(view)} has no result at the beginning of the next message`,
          }
        }
      }
    },
  },
  {
    rule: 'call-before-server-result',
    prevents:
      'messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: …',
    *check({ turns }) {
      for (const { blocks, role } of turns) {
        const last = blocks.findLastIndex(({ type }) => isServerResult(type))
        for (const view of role === 'assistant' ? blocks.slice(0, Math.max(last, 0)) : []) {
          if (!isUse(view) || codeCaller(view.block) !== undefined) continue
          yield { path: view.path, message: 'must come after the calls that the server finished' }
        }
      }
    },
  },
  {
    rule: 'stray-result',
    prevents: 'messages.N.content.N: unexpected `tool_use_id` found in `tool_result` blocks: …',
    *check({ turns }) {
      for (const [index, { blocks, role }] of turns.entries()) {
        const before = turns[index - 1]
        const asked = before?.role === 'assistant' ? before.blocks.filter(isUse).map(idOf) : []
        for (const view of role === 'user' ? blocks.filter(isResult) : []) {
          if (asked.includes(answers(view))) continue
          yield {
            path: view.path,
            message: `\`tool_result\` ${answers(view)} has no \`tool_use\` in the previous message`,
          }
        }
      }
    },
  },
  {
    rule: 'duplicate-result',
    prevents: 'messages.N.content.N: each tool_use must have a single result. Found multiple …',
    *check({ messages }) {
      for (const { blocks } of messages) {
        const seen = new Set<string | undefined>()
        for (const view of blocks.filter(isResult)) {
          if (seen.has(answers(view))) {
            yield { path: view.path, message: `answers ${answers(view)} a second time` }
          }
          seen.add(answers(view))
        }
      }
    },
  },
  {
    rule: 'duplicate-id',
    prevents: 'messages.N.content.N: `tool_use` ids must be unique',
    *check({ turns, blocks }) {
      // An id of the client's may come again in a later turn, which has results of its own.
      for (const { blocks: own } of turns) yield* repeated(own.filter(isUse))
      yield* repeated(blocks.filter(({ type }) => isServerUse(type)))
    },
  },
  {
    rule: 'stray-server-result',
    prevents:
      'unexpected `tool_use_id` found in `…_tool_result` blocks: … must have a corresponding `server_tool_use` block before it.',
    *check({ blocks }) {
      const made = new Set<string>()
      const kind = ({ type }: BlockView) => (type.startsWith('mcp_') ? 'mcp' : 'server')
      for (const view of blocks) {
        if (isServerUse(view.type)) made.add(`${kind(view)} ${idOf(view)}`)
        if (!isServerResult(view.type) || made.has(`${kind(view)} ${answers(view)}`)) continue
        yield { path: view.path, message: `the call ${answers(view)} is missing before its result` }
      }
    },
  },
  {
    rule: 'missing-server-result',
    prevents:
      'messages.N: `…` tool use with id `srvtoolu_…` was found without a corresponding `…_tool_result` block',
    *check({ blocks, params, request }) {
      // Other missing parts have rules of their own.
      const dangling = danglingUses(params, request['container'] ?? 'assumed')
      for (const view of blocks) {
        const id = idOf(view)
        if (!isServerUse(view.type) || id === undefined || !dangling.has(id)) continue
        yield { path: view.path, message: `\`${view.type}\` ${id} has no result` }
      }
    },
  },
  {
    rule: 'caller',
    prevents:
      'messages.N.content.N.tool_use.caller.tool_id: no such `server_tool_use` in the request',
    *check({ blocks }) {
      const made = new Set<string | undefined>()
      for (const view of blocks) {
        if (isServerUse(view.type)) made.add(idOf(view))
        const maker = codeCaller(view.block)
        if (maker === undefined || made.has(maker) || isResult(view)) continue
        yield { path: `${view.path}.caller`, message: `the code ${maker} is not in the request` }
      }
    },
  },
  {
    rule: 'container',
    prevents:
      'container_id is required when there are pending tool uses generated by code execution with tools.',
    *check({ turns, blocks, request }) {
      if (request['container'] || request['messages'] === undefined) return
      const done = new Set(blocks.filter(({ type }) => isServerResult(type)).map(answers))
      const last = turns.findLast(({ role }) => role === 'assistant')
      for (const view of last?.blocks ?? []) {
        const maker = codeCaller(view.block)
        if (!isUse(view) || maker === undefined || done.has(maker)) continue
        yield { path: 'container', message: `the code ${maker} waits in a container` }
      }
    },
  },
]
