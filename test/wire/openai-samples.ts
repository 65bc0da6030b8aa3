import {
  AFTER_SEVEN,
  ANSWER,
  CITIES,
  type ModelSample,
  OUTPUT,
  QUESTION,
  SCHEMA,
  SECRET,
} from './model-sample.ts'

/** Of OpenAI's Responses protocol, and of Foundry. */
export function responsesSample(): ModelSample {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: SECRET }
  const calls = CITIES.map(([call_id, city]) => ({
    type: 'function_call',
    call_id,
    name: 'get_weather',
    arguments: JSON.stringify({ city }),
  }))
  const stored = calls.map((call, at) => ({ ...call, id: `fc_${at}`, status: 'completed' }))
  const text = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: ANSWER, annotations: [] }],
  }
  const exchange = (...items: readonly object[]) => {
    const usage = { input_tokens: 3, output_tokens: 4 }
    const body = { id: 'resp_1', object: 'response', status: 'completed', output: items, usage }
    const events = items.flatMap((item, output_index) => {
      const { arguments: delta } = item as { arguments?: string }
      const added = { type: 'response.output_item.added', output_index }
      const done = { type: 'response.output_item.done', output_index, item }
      if (delta === undefined) return [{ ...added, item }, done]
      const piece = { type: 'response.function_call_arguments.delta', output_index, delta }
      return [{ ...added, item: { ...item, arguments: '' } }, piece, done]
    })
    const created = { type: 'response.created', response: { ...body, output: [] } }
    return { body, events: [created, ...events, { type: 'response.completed', response: body }] }
  }
  return {
    model: 'gpt-5.4',
    stranger: 'gpt-4.1',
    ask: exchange(reasoning, ...stored),
    answer: exchange(text),
    sent: (stream) => ({
      model: 'gpt-5.4',
      stream,
      store: false,
      instructions: 'Be brief.',
      include: ['reasoning.encrypted_content'],
      tools: [
        {
          type: 'function',
          name: 'get_weather',
          description: 'Weather.',
          parameters: SCHEMA,
          strict: false,
        },
      ],
      input: [
        { type: 'message', role: 'user', content: QUESTION.text },
        reasoning,
        // A call after reasoning that goes back by id keeps its own id.
        ...calls.map((call, at) => ({ ...call, id: `fc_${at}` })),
        ...calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: '4 C' })),
      ],
    }),
    custom: {
      settings: {
        model: 'gpt-4.1',
        hostedTools: [{ type: 'web_search' }],
        params: { store: true, temperature: 0 },
      },
      request: { tools: [], toolChoice: { tool: 'x' }, output: OUTPUT },
      body: {
        model: 'gpt-4.1',
        stream: false,
        store: true,
        temperature: 0,
        instructions: 'Be brief.',
        input: [{ type: 'message', role: 'user', content: QUESTION.text }],
        tools: [{ type: 'web_search' }],
        tool_choice: { type: 'function', name: 'x' },
        text: { format: { type: 'json_schema', ...OUTPUT } },
      },
    },
    choiceMembers: [],
    unfinished: [],
    failures: [
      [
        200,
        { status: 'failed', output: [], error: { code: 'server_error' } },
        'E_PROVIDER_UNAVAILABLE',
      ],
      [400, { error: { code: null, message: 'No tool output found' } }, 'E_PROVIDER_BAD_REQUEST'],
      [400, { error: { code: 'context_length_exceeded' } }, 'E_PROVIDER_CONTEXT_TOO_LONG'],
      [401, { error: { code: 'invalid_api_key' } }, 'E_PROVIDER_AUTH'],
      [404, { error: { code: 'model_not_found' } }, 'E_PROVIDER_NOT_FOUND'],
      [429, { error: { code: 'rate_limit_exceeded' } }, 'E_PROVIDER_RATE_LIMITED'],
      [500, { error: { type: 'server_error' } }, 'E_PROVIDER_UNAVAILABLE'],
      [503, 'not JSON', 'E_PROVIDER_UNAVAILABLE'],
      [529, undefined, 'E_PROVIDER_UNAVAILABLE'],
    ],
    retry: { exchange: AFTER_SEVEN, retryAfterMs: 7000 },
  }
}

/** Of Chat Completions. */
export function chatSample(): ModelSample {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const whole = (message: object, finish_reason: string) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
    usage,
  })
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const calls = CITIES.map(([id, city]) => ({
    id,
    type: 'function',
    function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
  }))
  const pieces = calls.flatMap(({ id, type, function: { name, arguments: args } }, index) =>
    [
      { index, id, type, function: { name, arguments: '' } },
      { index, function: { arguments: args.slice(0, 5) } },
      { index, function: { arguments: args.slice(5) } },
    ].map((piece) => chunk({ tool_calls: [piece] })),
  )
  const thought = { reasoning_content: SECRET }
  return {
    model: 'loom-1',
    stranger: 'shuttle-2',
    ask: {
      events: [
        chunk({ role: 'assistant', content: null, ...thought }),
        ...pieces,
        chunk({}, 'tool_calls'),
        { id: 'chatcmpl-1', choices: [], usage },
      ],
      body: whole({ content: null, tool_calls: calls, ...thought }, 'tool_calls'),
    },
    answer: {
      events: [chunk({ role: 'assistant', content: '4 and' }), chunk({ content: ' 18.' }, 'stop')],
      body: whole({ content: ANSWER }, 'stop'),
    },
    sent: (stream) => ({
      model: 'loom-1',
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
      tools: [
        {
          type: 'function',
          function: { name: 'get_weather', description: 'Weather.', parameters: SCHEMA },
        },
      ],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: QUESTION.text },
        { role: 'assistant', content: null, tool_calls: calls, ...thought },
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '4 C' })),
      ],
    }),
    custom: {
      settings: {
        hostedTools: [{ type: 'custom', custom: { name: 'get_weather' } }],
        params: { temperature: 0, reasoning_effort: 'low' },
      },
      request: { toolChoice: { tool: 'get_weather' }, output: OUTPUT },
      body: {
        model: 'm',
        stream: false,
        temperature: 0,
        reasoning_effort: 'low',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: QUESTION.text },
        ],
        tools: [{ type: 'custom', custom: { name: 'get_weather' } }],
        tool_choice: { type: 'custom', custom: { name: 'get_weather' } },
        response_format: { type: 'json_schema', json_schema: OUTPUT },
      },
    },
    choiceMembers: ['tool_choice'],
    unfinished: [{ id: 'chatcmpl-1', choices: [] }],
    failures: [
      [200, { error: { code: 'context_length_exceeded' } }, 'E_PROVIDER_CONTEXT_TOO_LONG'],
      [400, undefined, 'E_PROVIDER_BAD_REQUEST'],
      [401, undefined, 'E_PROVIDER_AUTH'],
      [404, undefined, 'E_PROVIDER_NOT_FOUND'],
      [429, undefined, 'E_PROVIDER_RATE_LIMITED'],
      [500, undefined, 'E_PROVIDER_UNAVAILABLE'],
      [529, undefined, 'E_PROVIDER_UNAVAILABLE'],
    ],
    retry: { exchange: AFTER_SEVEN, retryAfterMs: 7000 },
  }
}
