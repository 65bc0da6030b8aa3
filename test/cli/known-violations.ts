import type { WireApi } from '../../src/model/wire/wire-adapter.ts'

/** A mistake that providers are known to refuse, and whether a history shows it. */
export interface KnownViolation {
  readonly api: WireApi
  readonly violation: string
  /** The rule that finds it in `payload`; absent where no history can show it, and `unseen` says why. */
  readonly rule?: string
  readonly payload?: object
  readonly unseen?: string
}

const user = { role: 'user', content: 'go' }
const ask = { type: 'message', role: 'user', content: 'go' }
const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
const long = 'x'.repeat(65)

const responses = (violation: string, rule: string, input: object[], rest: object = {}) =>
  ({ api: 'openai-responses', violation, rule, payload: { ...rest, input } }) as const

const chatCall = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
})
const chat = (violation: string, rule: string, messages: object[]) =>
  ({ api: 'openai-chat', violation, rule, payload: { messages } }) as const

const use = (id: string, more: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'f',
  input: {},
  ...more,
})
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const answer = (...content: object[]) => ({ role: 'user', content })
const search = (id: string, name = 'web_search') => ({
  type: 'server_tool_use',
  id,
  name,
  input: {},
})
const found = (id: string, content: object[] = []) => ({
  type: 'web_search_tool_result',
  tool_use_id: id,
  content,
})
const messages = (violation: string, rule: string, ...list: object[]) =>
  ({ api: 'anthropic-messages', violation, rule, payload: { messages: [user, ...list] } }) as const

const says = { role: 'user', parts: [{ text: 'go' }] }
const model = (...parts: object[]) => ({ role: 'model', parts })
const tool = (...parts: object[]) => ({ role: 'user', parts })
const fCall = (more: object = {}, part: object = {}) => ({
  functionCall: { name: 'f', args: {}, ...more },
  ...part,
})
const fResponse = (more: object = {}) => ({
  functionResponse: { name: 'f', response: { output: 'ok' }, ...more },
})
const gemini = (violation: string, rule: string, contents: object[], rest: object = {}) =>
  ({ api: 'gemini', violation, rule, payload: { ...rest, contents } }) as const

const step = (type: string, more: object = {}) => ({ type, ...more })
const asks = step('user_input', { content: [{ type: 'text', text: 'go' }] })
const calls = step('function_call', { id: 'c1', name: 'f', arguments: {} })
const gives = step('function_result', { call_id: 'c1', name: 'f', result: 'ok' })
const interactions = (violation: string, rule: string, input: object[], rest: object = {}) =>
  ({ api: 'gemini-interactions', violation, rule, payload: { ...rest, input } }) as const

const told = { role: 'user', content: [{ text: 'go' }] }
const toolUse = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'f', input: {} } })
const toolResult = (toolUseId: string, more: object = {}) => ({
  toolResult: { toolUseId, content: [{ text: 'ok' }], ...more },
})
const converse = (violation: string, rule: string, ...list: object[]) =>
  ({ api: 'bedrock-converse', violation, rule, payload: { messages: [told, ...list] } }) as const

/** The whole list, in the words under which the mistakes are known. */
export const knownViolations: readonly KnownViolation[] = [
  responses(
    'function_call_output without its function_call in input or stored context',
    'stray-output',
    [ask, output],
  ),
  responses('function_call without a matching output in the next request', 'missing-output', [
    ask,
    call,
  ]),
  responses('local_shell_call_output sent with id instead of call_id', 'local-shell-call-id', [
    ask,
    { type: 'local_shell_call', id: 'lsh_1', call_id: 'c1', action: {}, status: 'completed' },
    { type: 'local_shell_call_output', id: 'c1', output: 'ok' },
  ]),
  responses('call_id longer than 64', 'call-id-length', [
    ask,
    { ...call, call_id: long },
    { ...output, call_id: long },
  ]),
  responses('item id without the right prefix', 'item-id-prefix', [
    ask,
    { ...call, id: 'call_1' },
    output,
  ]),
  {
    api: 'openai-responses',
    violation: 'function_call replayed without the reasoning item that came before it',
    unseen:
      'the dropped item leaves no trace: a call without reasoning before it is allowed as well',
  },
  responses(
    'reasoning item replayed without the item that followed it',
    'reasoning-without-follower',
    [{ type: 'reasoning', id: 'rs_1', summary: [] }, ask],
  ),
  responses('namespace dropped from a function_call loaded by tool search', 'missing-namespace', [
    {
      type: 'tool_search_output',
      execution: 'server',
      tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] }],
    },
    call,
    output,
  ]),
  responses(
    'mcp approval request sent again as item_reference while previous_response_id or conversation already holds it',
    'approval-sent-twice',
    [{ type: 'mcp_approval_request', id: 'mcpr_1', name: 'f', arguments: '{}', server_label: 's' }],
    { previous_response_id: 'resp_1' },
  ),
  responses(
    'tool_search output item re-sent under the call item id (duplicate id)',
    'duplicate-item-id',
    [
      { type: 'tool_search_call', id: 'tsc_1', execution: 'server', arguments: {} },
      { type: 'tool_search_output', id: 'tsc_1', execution: 'server', tools: [] },
    ],
  ),
  responses(
    'plain-text output for a function that declares output_schema',
    'output-schema',
    [ask, call, output],
    { tools: [{ type: 'function', name: 'f', parameters: {}, output_schema: {} }] },
  ),
  chat('assistant tool_calls not all answered', 'unanswered-call', [user, chatCall('c1'), user]),
  chat('tool message without preceding tool_calls', 'stray-tool-message', [
    user,
    { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  ]),
  chat('tool_calls[].id too long', 'call-id-length', [
    user,
    chatCall(long),
    { role: 'tool', tool_call_id: long, content: 'ok' },
  ]),
  messages(
    'tool_use not answered in the next user message, or text placed before the results',
    'missing-result',
    assistant(use('t1')),
    answer({ type: 'text', text: 'wait' }, result('t1')),
  ),
  messages(
    'tool_result without a tool_use in the previous message',
    'stray-result',
    assistant({ type: 'text', text: 'no' }),
    answer(result('t9')),
  ),
  messages(
    'server tool result without its server_tool_use before it',
    'stray-server-result',
    assistant(found('srvtoolu_1'), { type: 'text', text: 'so' }),
  ),
  messages(
    'foreign id on server_tool_use',
    'id-pattern',
    assistant(search('call_1'), found('call_1'), { type: 'text', text: 'so' }),
  ),
  messages(
    'unknown server tool name on replay',
    'server-tool-name',
    assistant(search('srvtoolu_1', 'file_search'), found('srvtoolu_1'), {
      type: 'text',
      text: 'so',
    }),
  ),
  messages(
    'duplicate tool_use id',
    'duplicate-id',
    assistant(use('t1'), use('t1')),
    answer(result('t1')),
  ),
  messages(
    'web_search_result without encrypted_content',
    'encrypted-content',
    assistant(
      search('srvtoolu_1'),
      found('srvtoolu_1', [{ type: 'web_search_result', url: 'u', title: 't' }]),
      {
        type: 'text',
        text: 'so',
      },
    ),
  ),
  {
    api: 'anthropic-messages',
    violation: 'forged encrypted_content',
    unseen: 'ciphertext has no documented form, and only the provider can open it',
  },
  messages(
    'thinking block changed, dropped or reordered in the latest assistant message',
    'thinking-signature',
    assistant({ type: 'thinking', thinking: 'hm' }, use('t1')),
    answer(result('t1')),
  ),
  messages(
    'container id not sent back while code execution has pending tool uses',
    'container',
    assistant(
      search('srvtoolu_1', 'code_execution'),
      use('t1', { caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } }),
    ),
    answer(result('t1')),
  ),
  messages(
    'tool_result in a non-user message',
    'result-role',
    assistant(use('t1')),
    assistant(result('t1')),
  ),
  gemini(
    'number of functionResponse parts differs from number of functionCall parts',
    'response-count',
    [says, model(fCall(), fCall()), tool(fResponse())],
  ),
  gemini(
    'function call turn not after a user or function response turn (also: history that starts with a call)',
    'call-turn-place',
    [model(fCall()), tool(fResponse())],
  ),
  gemini('function response turn not directly after the call turn', 'response-turn-place', [
    says,
    model(fCall()),
    says,
    tool(fResponse()),
  ]),
  gemini(
    'thoughtSignature dropped (Gemini 3+)',
    'missing-signature',
    [says, model(fCall({ id: 'c1' })), tool(fResponse({ id: 'c1' }))],
    { model: 'gemini-3.8-flash' },
  ),
  {
    api: 'gemini',
    violation: 'thoughtSignature of another model, route or key',
    unseen: 'a signature does not say which model, route or key made it',
  },
  // A history shows the backend only where the name of its model does; gateways are known by address only.
  gemini(
    'id sent to a backend that does not know it (Vertex Express, Gemini 2.x, gateways)',
    'id-for-old-model',
    [says, model(fCall({ id: 'c1' })), tool(fResponse({ id: 'c1' }))],
    { model: 'publishers/google/models/gemini-2.5-flash' },
  ),
  gemini('functionResponse.id differs from functionCall.id (Gemini 3.7)', 'response-id', [
    says,
    model(fCall({ id: 'c1' }, { thoughtSignature: 'c2ln' })),
    tool(fResponse({ id: 'c2' })),
  ]),
  interactions('function_call without function_result', 'missing-result', [asks, calls, asks]),
  interactions('function_result without its function_call', 'stray-result', [asks, gives]),
  interactions('thought that came without signature', 'unsigned-thought', [
    asks,
    step('thought', { signature: '', summary: [{ type: 'text', text: 'Hm.' }] }),
    calls,
    gives,
  ]),
  interactions(
    'function_call that no signed thought covers (Gemini 3+)',
    'unsigned-call',
    [asks, calls, gives],
    { model: 'gemini-3.8-flash' },
  ),
  interactions('turn of the legacy schema', 'legacy-turn', [{ role: 'user', content: 'go' }], {
    model: 'gemini-3.8-flash',
    system_instruction: 'Be brief.',
  }),
  {
    api: 'foundry',
    violation: 'old request member',
    rule: 'agent-member',
    payload: { agent: { name: 'a' }, input: [ask] },
  },
  {
    api: 'foundry',
    violation: 'full history with call and output pair passed when chaining responses',
    rule: 'pair-while-chaining',
    payload: {
      agent_reference: { name: 'a' },
      previous_response_id: 'resp_1',
      input: [call, output],
    },
  },
  converse(
    'toolUse not answered in the next user message',
    'missing-result',
    assistant(toolUse('t1')),
    answer({ text: 'wait' }),
  ),
  converse(
    'more toolResult blocks than toolUse blocks in the message before',
    'stray-result',
    assistant({ text: 'no' }),
    answer(toolResult('t9')),
  ),
  converse('two messages of one role', 'alternation', told),
  converse(
    'toolUseId of another charset, or longer than 64',
    'id-pattern',
    assistant(toolUse('call|1')),
    answer(toolResult('call|1')),
  ),
  converse('a blank text', 'blank-text', assistant({ text: ' ' }), told),
  converse(
    'an error result without content',
    'empty-error',
    assistant(toolUse('t1')),
    answer(toolResult('t1', { content: [], status: 'error' })),
  ),
]
