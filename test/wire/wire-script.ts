import type { WireApi } from '../../src/wire/index.ts'

/** A call as a server streams it. `args` is the text of its arguments, sent in two pieces. */
export interface ScriptedCall {
  readonly id?: string | null
  readonly tool: string
  readonly args: string
}

/** How a response ends: in a way that permits its calls, or not. */
export type Ending = 'tools' | 'length' | 'filter' | 'novelty'

/** One protocol's words for what the tests need said. */
export interface WireScript {
  /** The events of a response that asks for calls; strings are sent as they are. */
  calls(calls: readonly ScriptedCall[], ending?: Ending): readonly unknown[]
  answer(text: string): readonly unknown[]
  /** The same two as whole responses. */
  readonly unstreamed: { call(call: ScriptedCall): object; answer(text: string): object }
  /** Which event of a response with one call permits it to run: without that one it never does. */
  readonly terminal: number
  /** The event that holds the arguments, or the rest of them. */
  readonly whole: number
  /** A call whose arguments parse and whose end never came, in protocols that send an end. */
  unended?(call: ScriptedCall): readonly unknown[]
}

const halves = (text: string) => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]

function responses(): WireScript {
  const reasons = { length: 'max_output_tokens', filter: 'content_filter', novelty: 'novelty' }
  const end = (ending: Ending) => {
    const response = { id: 'r', output: [] }
    if (ending === 'tools')
      return { type: 'response.completed', response: { ...response, status: 'completed' } }
    const status = { status: 'incomplete', incomplete_details: { reason: reasons[ending] } }
    return { type: 'response.incomplete', response: { ...response, ...status } }
  }
  const itemOf = ({ id, tool, args }: ScriptedCall, at: number) => ({
    type: 'function_call',
    id: id === undefined || id ? `fc_${at}` : id,
    ...(id !== undefined && { call_id: id }),
    name: tool,
    arguments: args,
    status: 'completed',
  })
  const begun = (call: ScriptedCall, output_index: number) => [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...itemOf(call, output_index), arguments: '', status: 'in_progress' },
    },
    ...halves(call.args).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      output_index,
      delta,
    })),
  ]
  const said = (text: string) => ({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  })
  return {
    terminal: 4,
    whole: 3,
    calls: (calls, ending = 'tools') => [
      ...calls.flatMap((call, output_index) => [
        ...begun(call, output_index),
        {
          type: 'response.output_item.done',
          output_index,
          item: itemOf(call, output_index),
        },
      ]),
      end(ending),
    ],
    answer: (text) => [
      { type: 'response.output_item.done', output_index: 0, item: said(text) },
      end('tools'),
    ],
    unended: (call) => [...begun(call, 0), end('tools')],
    unstreamed: {
      call: (call) => ({ id: 'r', status: 'completed', output: [itemOf(call, 0)] }),
      answer: (text) => ({ id: 'r', status: 'completed', output: [said(text)] }),
    },
  }
}

function chat(): WireScript {
  const reasons = {
    tools: 'tool_calls',
    length: 'length',
    filter: 'content_filter',
    novelty: 'novelty',
  }
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const whole = (message: object, finish_reason: string) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  })
  return {
    terminal: 3,
    whole: 2,
    calls: (calls, ending = 'tools') => [
      ...calls.flatMap(({ id, tool, args }, index) => {
        const [first = '', second = ''] = halves(args)
        const piece = (more: object) => chunk({ tool_calls: [{ index, ...more }] })
        const start = { type: 'function', function: { name: tool, arguments: '' } }
        return [
          piece({ ...(id !== undefined && { id }), ...start }),
          piece({ function: { arguments: first } }),
          piece({ function: { arguments: second } }),
        ]
      }),
      chunk({}, reasons[ending]),
    ],
    answer: (text) => [chunk({ role: 'assistant', content: text }), chunk({}, 'stop')],
    unstreamed: {
      call: ({ id, tool, args }) => {
        const asked = { id, type: 'function', function: { name: tool, arguments: args } }
        return whole({ content: null, tool_calls: [asked] }, 'tool_calls')
      },
      answer: (content) => whole({ content }, 'stop'),
    },
  }
}

function anthropic(): WireScript {
  const reasons = {
    tools: 'tool_use',
    length: 'max_tokens',
    filter: 'refusal',
    novelty: 'novelty',
  }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'msg', type: 'message', role: 'assistant', content: [], usage }
  const opening = { type: 'message_start', message }
  const closing = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason }, usage },
    { type: 'message_stop' },
  ]
  const begun = ({ id, tool, args }: ScriptedCall, index: number) => [
    {
      type: 'content_block_start',
      index,
      content_block: {
        type: 'tool_use',
        ...(id !== undefined && { id }),
        name: tool,
        input: {},
      },
    },
    ...halves(args).map((partial_json) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json },
    })),
  ]
  return {
    terminal: 6,
    whole: 3,
    calls: (calls, ending = 'tools') => [
      opening,
      ...calls.flatMap((call, index) => [
        ...begun(call, index),
        { type: 'content_block_stop', index },
      ]),
      ...closing(reasons[ending]),
    ],
    answer: (text) => [
      opening,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      ...closing('end_turn'),
    ],
    unended: (call) => [opening, ...begun(call, 0), ...closing('tool_use')],
    unstreamed: {
      call: ({ id, tool, args }) => {
        const content = [{ type: 'tool_use', id, name: tool, input: JSON.parse(args) as object }]
        return { ...message, content, stop_reason: 'tool_use' }
      },
      answer: (text) => ({
        ...message,
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
      }),
    },
  }
}

/** On this wire, arguments are an object in the chunk, not text. */
function gemini(): WireScript {
  const reasons = {
    tools: 'STOP',
    length: 'MAX_TOKENS',
    filter: 'SAFETY',
    novelty: 'NOVELTY',
  }
  const candidate = (part: object) => ({
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
  })
  const chunk = (parts: string, more = '') =>
    `{"candidates":[{"content":{"role":"model","parts":[${parts}]}${more}}]}`
  return {
    terminal: 1,
    whole: 0,
    calls: (calls, ending = 'tools') => [
      ...calls.map(({ id, tool, args }) => {
        const given = id === undefined ? '' : `"id":${JSON.stringify(id)},`
        return chunk(`{"functionCall":{${given}"name":${JSON.stringify(tool)},"args":${args}}}`)
      }),
      chunk('{"text":""}', `,"finishReason":"${reasons[ending]}"`),
    ],
    answer: (text) => [chunk(`{"text":${JSON.stringify(text)}}`, ',"finishReason":"STOP"')],
    unstreamed: {
      call: ({ id, tool, args }) => {
        const functionCall = { id, name: tool, args: JSON.parse(args) as object }
        return candidate({ functionCall })
      },
      answer: (text) => candidate({ text }),
    },
  }
}

/** How each protocol says it. */
export const WIRE_SCRIPTS: Readonly<Record<WireApi, WireScript>> = {
  'openai-responses': responses(),
  foundry: responses(),
  'openai-chat': chat(),
  'anthropic-messages': anthropic(),
  gemini: gemini(),
}
