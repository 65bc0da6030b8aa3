import { describe, expect, it } from 'vitest'
import { validateRequest } from './validate.ts'
import { CONTENT_RULES } from './validate-content.ts'
import { PAIRING_RULES } from './validate-pairs.ts'

const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const text = (words: string) => ({ type: 'text', text: words })
const use = (id: string, more: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'n',
  input: {},
  ...more,
})
const result = (tool_use_id: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id,
  ...more,
})
const server = (id: string, name = 'web_search', more: object = {}) => ({
  type: 'server_tool_use',
  id,
  name,
  input: {},
  ...more,
})
const found = (tool_use_id: string, content: unknown = []) => ({
  type: 'web_search_tool_result',
  tool_use_id,
  content,
})
const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_c' }
const code = server('srvtoolu_c', 'code_execution')
const question = { role: 'user', content: 'Go' }
const cached = { ...text('x'), cache_control: { type: 'ephemeral' } }

/** What breaks each rule, and nothing else. */
const BROKEN: Readonly<Record<string, unknown>> = {
  'missing-result': [question, assistant(use('a'))],
  'call-before-server-result': [
    question,
    assistant(use('a'), server('srvtoolu_1'), found('srvtoolu_1')),
    user(result('a')),
  ],
  'stray-result': [question, assistant(text('x')), user(result('a'))],
  'duplicate-result': [question, assistant(use('a')), user(result('a'), result('a'))],
  'duplicate-id': [question, assistant(use('a'), use('a')), user(result('a'))],
  'stray-server-result': [question, assistant(found('srvtoolu_1'))],
  'missing-server-result': [question, assistant(text('x'), server('srvtoolu_1')), question],
  caller: [question, assistant(use('a', { caller })), user(result('a'))],
  container: { messages: [question, assistant(code, use('a', { caller })), user(result('a'))] },
  'id-pattern': [question, assistant(use('a.b')), user(result('a.b'))],
  'server-tool-name': [question, assistant(server('srvtoolu_1', 'teleport'))],
  'name-length': [question, assistant(use('a', { name: '' })), user(result('a'))],
  'input-object': [question, assistant(use('a', { input: 'x' })), user(result('a'))],
  'result-role': [question, assistant(result('a'))],
  'assistant-role': [user({ type: 'thinking', thinking: 'x', signature: 's' }, text('x'))],
  'assistant-media': [question, assistant({ type: 'image', source: {} })],
  'user-citations': [user({ ...text('x'), citations: [{ type: 'char_location' }] })],
  'tool-change-role': [user({ type: 'tool_removal', tool: {} })],
  'encrypted-content': [
    question,
    assistant(server('srvtoolu_1'), found('srvtoolu_1', [{ type: 'web_search_result' }])),
  ],
  'thinking-signature': [question, assistant({ type: 'thinking', thinking: 'x' }, text('x'))],
  'thinking-last': [question, assistant({ type: 'redacted_thinking', data: 'x' })],
  'blank-text': [user(text(' \n'))],
  'empty-message': [question, { role: 'assistant', content: [] }],
  'result-content': [
    question,
    assistant(use('a')),
    user(result('a', { content: [{ type: 'thinking' }] })),
  ],
  base64: [
    user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'a-_b' } }),
  ],
  'cache-breakpoints': [user(cached, cached, cached, cached, cached)],
  'message-count': Array.from({ length: 100_001 }, () => question),
}
const RULES = [...PAIRING_RULES, ...CONTENT_RULES]

describe('validateRequest', () => {
  it.each(RULES.map(({ rule }) => rule))('finds what breaks `%s`', (rule) => {
    const violations = validateRequest(BROKEN[rule])
    expect([...new Set(violations.map((violation) => violation.rule))]).toEqual([rule])
    expect(violations[0]?.prevents).not.toBe('')
  })

  it('finds results behind other words', () => {
    const payload = [question, assistant(use('a')), user(text('so'), result('a'))]
    expect(validateRequest(payload)).toMatchObject([
      { rule: 'missing-result', path: 'messages.1.content.0' },
    ])
  })

  it.each([
    ['a pause', [question, assistant(text('x'), server('srvtoolu_1'))]],
    ['a mixed turn', [question, assistant(use('a'), server('srvtoolu_1')), user(result('a'))]],
    [
      'a result in the next response',
      [
        question,
        assistant(use('a'), server('srvtoolu_1')),
        user(result('a'), text('x')),
        assistant(found('srvtoolu_1')),
      ],
    ],
    [
      'code that waits in its container',
      {
        container: 'container_1',
        messages: [question, assistant(code, use('a', { caller })), user(result('a'))],
      },
    ],
    [
      'a new block in a result',
      [question, assistant(use('a')), user(result('a', { content: [{ type: 'video' }] }))],
    ],
    ['settings of the operator', [question, { role: 'system', output_config: { effort: 'low' } }]],
    ['a text that cites nothing', [user({ ...text('x'), citations: [] })]],
    ['nothing', {}],
    ['a request', { messages: [question], system: 'x' }],
  ])('lets %s pass', (_, payload) => {
    expect(validateRequest(payload)).toEqual([])
  })

  it.each([null, 3, 'x', [null], [{ role: 'user', content: [null] }], { messages: 7 }])(
    'does not fail on %j',
    (payload) => {
      expect(Array.isArray(validateRequest(payload))).toBe(true)
    },
  )
})
