import { describe, expect, it } from 'vitest'
import type { WireApi } from '../../src/model/wire/wire-adapter.ts'
import { wire } from '../../src/wire/index.ts'

const call = { name: 'roll', args: {} }
const code = { executableCode: { language: 'PYTHON', code: '1' } }
const ran = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }
const server = { toolType: 'GOOGLE_SEARCH_WEB', args: {} }
const turns = (...parts: object[]) => [{ role: 'model', parts }]
const answered = (calls: object, response: object) => [
  ...turns(calls),
  { role: 'user', parts: [response] },
]

type Row = [string, WireApi, unknown, 'conflated' | 'synthetic']

/** The wire types that carry no correlation id, or need not, and how each call gets its own. */
const types: Row[] = [
  ['memory_search_call', 'foundry', [{ type: 'memory_search_call', results: [] }], 'synthetic'],
  ['workflow_action', 'foundry', [{ type: 'workflow_action', kind: 'x' }], 'synthetic'],
  [
    'oauth_consent_request',
    'foundry',
    [{ type: 'oauth_consent_request', id: 'oa_1', consent_link: 'https://x.test' }],
    'conflated',
  ],
  ['executableCode and codeExecutionResult', 'gemini', turns(code, ran), 'synthetic'],
  [
    'toolCall and toolResponse',
    'gemini',
    turns({ toolCall: server }, { toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', response: {} } }),
    'synthetic',
  ],
  [
    'functionCall and functionResponse',
    'gemini',
    answered({ functionCall: call }, { functionResponse: { name: 'roll', response: {} } }),
    'synthetic',
  ],
  ...['code_interpreter_call', 'file_search_call', 'image_generation_call', 'mcp_call'].map(
    (type): Row => [
      type,
      'openai-responses',
      [{ type, id: 'item_1', status: 'completed', name: 'x', server_label: 's', arguments: '{}' }],
      'conflated',
    ],
  ),
  [
    'web_search_call',
    'openai-responses',
    [{ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } }],
    'conflated',
  ],
]

describe('wire.origin', () => {
  it.each(types)('of %s (%s) tells where its id came from', (_, api, payload, origin) => {
    const { calls } = wire(api, { secret: new Uint8Array(32) }).decode(payload)
    expect(calls).toHaveLength(1)
    const [{ id, wire: reference }] = calls as [(typeof calls)[number]]
    expect(reference.origin).toBe(origin)
    expect(reference.callId).toBeUndefined()
    if (origin === 'synthetic') expect(id).toMatch(/^bob_[\w-]{22}$/)
    else expect(id).toBe(reference.itemId)
  })

  it('is natural where an optional id is sent', () => {
    const payload = answered(
      { functionCall: { ...call, id: 'fc_1' } },
      { functionResponse: { id: 'fc_1', name: 'roll', response: {} } },
    )
    const { calls } = wire('gemini').decode(payload)
    expect(calls).toMatchObject([{ id: 'fc_1', wire: { origin: 'natural', callId: 'fc_1' } }])
  })
})
