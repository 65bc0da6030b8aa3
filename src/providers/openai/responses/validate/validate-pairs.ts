import type { JsonObject } from '../../../../core/json/json.ts'
import type { WireRule } from '../../../../model/wire/wire-adapter.ts'
import { asObject, asText } from '../../../../model/wire/wire-value.ts'
import { needsFollowerId } from '../encode/encode.ts'
import { mayBeCall } from '../encode/sent-items.ts'
import { isStoredReasoning } from '../wire/wire.ts'
import type { RequestView } from './request-view.ts'

/** Which output answers which call. Calls that the provider ran itself have theirs in the response. */
const OUTPUT_OF: ReadonlyMap<string, string> = new Map([
  ['function_call', 'function_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
  ['computer_call', 'computer_call_output'],
  ['apply_patch_call', 'apply_patch_call_output'],
  ['local_shell_call', 'local_shell_call_output'],
  ['shell_call', 'shell_call_output'],
  ['tool_search_call', 'tool_search_output'],
])
const CALL_OF: ReadonlyMap<string, string> = new Map(
  [...OUTPUT_OF].map(([call, output]) => [output, call]),
)

/** The provider runs some calls of these types itself and keeps their outputs apart. */
function runsThere(item: JsonObject): boolean {
  const environment = asText(asObject(item['environment'])?.['type'])
  const isSearch = item['type'] === 'tool_search_call' || item['type'] === 'tool_search_output'
  if (isSearch) return item['execution'] !== 'client'
  return environment?.startsWith('container') === true
}

/** The output of such a call may come in any later request. */
function isAsync({ type, async }: JsonObject): boolean {
  return async === true && (type === 'function_call' || type === 'custom_tool_call')
}

/** A client's tool search may be answered by its own output or by that of a function. */
function pairsOf(type: string, other: string | undefined): readonly string[] {
  if (type === 'tool_search_call') return ['tool_search_output', 'function_call_output']
  if (type === 'function_call_output') return ['function_call', 'tool_search_call']
  return other === undefined ? [] : [other]
}

/** Ids by call type: `call_id` must pair within its own kind. */
function idsOf(view: RequestView, types: ReadonlyMap<string, string>): Map<string, number> {
  const found = new Map<string, number>()
  view.items.forEach(({ item, type }, index) => {
    const callId = asText(item['call_id'])
    if (types.has(type) && callId !== undefined) found.set(`${type} ${callId}`, index)
  })
  return found
}

/** What pairs, orders and names items. */
export const PAIR_RULES: readonly WireRule<RequestView>[] = [
  {
    rule: 'stray-output',
    prevents: 'No tool call found for function call output with call_id …',
    *check(view) {
      const calls = idsOf(view, OUTPUT_OF)
      const known = new Set(
        view.items.flatMap(({ item, type }) => (type === 'item_reference' ? [] : [item['id']])),
      )
      let references = 0
      for (const [index, { item, path, type }] of view.items.entries()) {
        if (mayBeCall(item) && !known.has(item['id'])) references++
        const call = CALL_OF.get(type)
        const callId = asText(item['call_id'])
        if (call === undefined || view.isStored || runsThere(item)) continue
        const places = pairsOf(type, call).map((each) => calls.get(`${each} ${callId}`))
        if (places.some((at) => at !== undefined && at < index)) continue
        // A reference to a stored item may stand for the call.
        if (references-- > 0) continue
        yield { path, message: `\`${type}\` has no \`${call}\` with call_id ${callId} before it` }
      }
    },
  },
  {
    rule: 'missing-output',
    prevents: 'No tool output found for function call …',
    *check(view) {
      const outputs = idsOf(view, CALL_OF)
      for (const { item, path, type } of view.items) {
        const output = OUTPUT_OF.get(type)
        const callId = asText(item['call_id'])
        if (output === undefined || runsThere(item) || isAsync(item)) continue
        const isAnswered = pairsOf(type, output).some((each) => outputs.has(`${each} ${callId}`))
        if (callId !== undefined && isAnswered) continue
        yield { path, message: `\`${type}\` ${callId} has no \`${output}\`` }
      }
    },
  },
  {
    rule: 'local-shell-call-id',
    prevents: 'No tool output found for local shell call …',
    *check({ items }) {
      for (const { item, path, type } of items) {
        if (type !== 'local_shell_call_output' || asText(item['call_id'])) continue
        yield { path, message: 'the call is named by `call_id`, not by `id`' }
      }
    },
  },
  {
    rule: 'call-id-length',
    prevents:
      "Invalid 'input[…].call_id': string too long. Expected a string with maximum length 64",
    *check({ items }) {
      for (const { item, path } of items) {
        const callId = asText(item['call_id'])
        if (callId === undefined || (callId.length >= 1 && callId.length <= 64)) continue
        yield { path: `${path}.call_id`, message: `is ${callId.length} characters, not 1 to 64` }
      }
    },
  },
  {
    rule: 'duplicate-call-id',
    prevents: 'No tool output found for function call … (two calls share one id)',
    *check({ items }) {
      const seen = new Set<string>()
      for (const { item, path, type } of items) {
        const name = `${type} ${asText(item['call_id'])}`
        const isPair = OUTPUT_OF.has(type) || CALL_OF.has(type)
        if (!isPair || !asText(item['call_id'])) continue
        if (seen.has(name)) yield { path: `${path}.call_id`, message: `${name} is there twice` }
        seen.add(name)
      }
    },
  },
  {
    rule: 'duplicate-item-id',
    prevents: 'Duplicate item found with id … (400, e.g. a tool search output under its call’s id)',
    *check({ items }) {
      const seen = new Set<string>()
      for (const { item, path } of items) {
        const id = asText(item['id'])
        if (id === undefined) continue
        if (seen.has(id)) yield { path: `${path}.id`, message: `\`${id}\` is there twice` }
        seen.add(id)
      }
    },
  },
  {
    rule: 'item-id-prefix',
    prevents: "Invalid 'input[…].id': '…'. Expected an ID that begins with 'fc'.",
    *check({ items }) {
      for (const { item, path, type } of items) {
        const id = asText(item['id'])
        if (type !== 'function_call' || id === undefined || id.startsWith('fc')) continue
        yield { path: `${path}.id`, message: `\`${id}\` does not begin with fc: leave it out` }
      }
    },
  },
  {
    rule: 'reasoning-without-follower',
    prevents: "Item 'rs_…' of type 'reasoning' was provided without its required following item.",
    *check({ items }) {
      for (const [index, { item, path, type }] of items.entries()) {
        if (type !== 'reasoning' && !isStoredReasoning(item)) continue
        const next = items[index + 1]
        const isInput = next?.type === 'message' && next.item['role'] !== 'assistant'
        if (next === undefined || isInput || CALL_OF.has(next.type)) {
          yield { path, message: 'must be followed by the item that the model made after it' }
        } else if (needsFollowerId(item) && asText(next.item['id']) === undefined) {
          const message =
            'is stored, so the item after it must have the id under which it is stored'
          yield { path, message }
        }
      }
    },
  },
  {
    rule: 'approval-sent-twice',
    prevents:
      'a 400 for an approval request that previous_response_id or conversation already holds',
    *check({ items, isStored }) {
      if (!isStored) return
      const answered = new Set(items.map(({ item }) => asText(item['approval_request_id'])))
      for (const { item, path, type } of items) {
        const isReference = type === 'item_reference' && answered.has(asText(item['id']) ?? '')
        if (!isReference && type !== 'mcp_approval_request') continue
        yield { path, message: 'is stored already: send only the response' }
      }
    },
  },
]
