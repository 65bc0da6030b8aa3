import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../core/json/json.ts'
import { foundryResponses } from '../../../foundry/protocol.ts'
import { RESPONSES_RULES, validateRequest } from './validate.ts'

const user = { role: 'user', content: 'hi' }
const call = (more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  call_id: 'c1',
  name: 'f',
  arguments: '{}',
  ...more,
})
const output = (more: JsonObject = {}): JsonObject => ({
  type: 'function_call_output',
  call_id: 'c1',
  output: 'ok',
  ...more,
})
const rulesOf = (payload: unknown) => validateRequest(payload).map(({ rule }) => rule)

/** For each rule a request that breaks it. */
const broken: readonly (readonly [rule: string, payload: unknown])[] = [
  ['base64', [call(), output({ output: [{ image_url: 'data:image/png;base64,a-_b' }] })]],
  ['stray-output', [user, output()]],
  ['stray-output', [output(), call()]],
  ['missing-output', [user, call()]],
  ['local-shell-call-id', [{ type: 'local_shell_call_output', id: 'c1', output: '' }]],
  ['call-id-length', [call({ call_id: 'x'.repeat(65) }), output({ call_id: 'x'.repeat(65) })]],
  ['duplicate-call-id', [call(), call(), output()]],
  ['duplicate-item-id', [call({ id: 'fc_1' }), output({ id: 'fc_1' })]],
  ['item-id-prefix', [call({ id: 'call_1' }), output()]],
  ['reasoning-without-follower', [{ type: 'reasoning', id: 'rs_1', summary: [] }, user]],
  [
    'reasoning-without-follower',
    [{ type: 'reasoning', id: 'rs_1', summary: [] }, call(), output()],
  ],
  ['reasoning-without-follower', [{ type: 'item_reference', id: 'rs_1' }, call(), output()]],
  ['reasoning-without-follower', [{ id: 'rs_1' }, user]],
  ['stray-output', [{ type: 'item_reference', id: 'rs_1' }, output()]],
  ['stray-output', [{ type: 'item_reference', id: 'fc_1' }, output(), output({ call_id: 'c2' })]],
  [
    'missing-namespace',
    [
      {
        type: 'tool_search_output',
        execution: 'server',
        tools: [{ type: 'namespace', name: 'crm', tools: [{ name: 'f' }] }],
      },
      call(),
      output(),
    ],
  ],
  [
    'approval-sent-twice',
    { previous_response_id: 'r', input: [{ type: 'mcp_approval_request', id: 'mcpr_1' }] },
  ],
  [
    'approval-sent-twice',
    {
      conversation: 'c',
      input: [
        { type: 'item_reference', id: 'mcpr_1' },
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      ],
    },
  ],
  [
    'output-schema',
    { tools: [{ type: 'function', name: 'f', output_schema: {} }], input: [call(), output()] },
  ],
  ['output-length', [call(), output({ output: 'x'.repeat(10_485_761) })]],
  ['function-call-shape', [call({ name: 'a b' }), output()]],
  ['function-call-shape', [call({ arguments: {} }), output()]],
]

describe('validateRequest', () => {
  it.each(broken)('finds %s', (rule, payload) => {
    expect(rulesOf(payload)).toContain(rule)
  })

  it('has an example for every rule', () => {
    const shown = new Set(broken.map(([rule]) => rule))
    expect(RESPONSES_RULES.map(({ rule }) => rule).filter((rule) => !shown.has(rule))).toEqual([])
  })

  it('names in each violation the place and the error it prevents', () => {
    expect(validateRequest([user, call()])).toEqual([
      {
        rule: 'missing-output',
        path: 'input[1]',
        message: '`function_call` c1 has no `function_call_output`',
        prevents: 'No tool output found for function call …',
      },
    ])
  })

  it('lets outputs stand alone where the provider holds their calls', () => {
    expect(rulesOf({ previous_response_id: 'resp_1', input: [output()] })).toEqual([])
  })

  it.each([['text'], [[]], [{ input: 'text' }], [[user, call(), output()]], [null]])(
    'has nothing against %j',
    (payload) => {
      expect(rulesOf(payload)).toEqual([])
    },
  )

  it.each([
    ['output-only-item', [{ type: 'bing_grounding_call', call_id: 'c' }]],
    ['agent-member', { agent: { name: 'a' }, input: [] }],
    ['pair-while-chaining', { conversation: 'conv_1', input: [call(), output()] }],
  ])('finds %s for Foundry', (rule, payload) => {
    expect(
      (foundryResponses.validate?.(payload) ?? []).map((violation) => violation.rule),
    ).toContain(rule)
  })
})
