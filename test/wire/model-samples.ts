import type { WireApi } from '../../src/wire/index.ts'
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
import { chatSample, responsesSample } from './openai-samples.ts'

function anthropic(): ModelSample {
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: SECRET }
  const uses = CITIES.map(([id, city]) => ({
    type: 'tool_use',
    id,
    name: 'get_weather',
    input: { city },
  }))
  const exchange = (stop_reason: string, ...content: readonly object[]) => {
    const usage = { input_tokens: 3, output_tokens: 4 }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', usage }
    const blocks = content.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ])
    return {
      body: { ...message, content, stop_reason },
      events: [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        ...blocks,
        { type: 'message_delta', delta: { stop_reason }, usage },
        { type: 'message_stop' },
      ],
    }
  }
  const error = (type: string, message = 'no') => ({ type: 'error', error: { type, message } })
  return {
    model: 'claude-test-1',
    stranger: 'loom-1',
    ask: exchange('tool_use', thinking, ...uses),
    answer: exchange('end_turn', { type: 'text', text: ANSWER }),
    sent: (stream) => ({
      model: 'claude-test-1',
      max_tokens: 16_384,
      stream,
      system: 'Be brief.',
      tools: [{ name: 'get_weather', description: 'Weather.', input_schema: SCHEMA }],
      messages: [
        { role: 'user', content: QUESTION.text },
        { role: 'assistant', content: [thinking, ...uses] },
        {
          role: 'user',
          content: uses.map(({ id }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: '4 C',
          })),
        },
      ],
    }),
    custom: {
      settings: {
        hostedTools: [
          { type: 'web_search_20250305', name: 'web_search' },
          { type: 'bash_20250124', name: 'get_weather' },
        ],
        params: { max_tokens: 99, system: [{ type: 'text', text: 'Always.' }] },
      },
      request: { toolChoice: 'required', output: OUTPUT },
      body: {
        model: 'm',
        stream: false,
        max_tokens: 99,
        messages: [{ role: 'user', content: QUESTION.text }],
        tools: [
          { type: 'web_search_20250305', name: 'web_search' },
          { type: 'bash_20250124', name: 'get_weather' },
        ],
        tool_choice: { type: 'any' },
        system: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: 'Always.' },
        ],
        output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      },
    },
    choiceMembers: [],
    unfinished: [{ type: 'message', content: [] }],
    failures: [
      [400, error('invalid_request_error'), 'E_PROVIDER_BAD_REQUEST'],
      [
        400,
        error('invalid_request_error', 'prompt is too long: 9 > 8'),
        'E_PROVIDER_CONTEXT_TOO_LONG',
      ],
      [401, error('authentication_error'), 'E_PROVIDER_AUTH'],
      [402, error('billing_error'), 'E_PROVIDER_AUTH'],
      [403, error('permission_error'), 'E_PROVIDER_AUTH'],
      [404, error('not_found_error'), 'E_PROVIDER_NOT_FOUND'],
      [413, error('request_too_large'), 'E_PROVIDER_CONTEXT_TOO_LONG'],
      [429, error('rate_limit_error'), 'E_PROVIDER_RATE_LIMITED'],
      [500, error('api_error'), 'E_PROVIDER_UNAVAILABLE'],
      [503, 'not JSON', 'E_PROVIDER_UNAVAILABLE'],
      [504, error('timeout_error'), 'E_PROVIDER_UNAVAILABLE'],
      [529, error('overloaded_error'), 'E_PROVIDER_UNAVAILABLE'],
    ],
    retry: { exchange: AFTER_SEVEN, retryAfterMs: 7000 },
  }
}

function gemini(): ModelSample {
  const calls = CITIES.map(([id, city], at) => ({
    functionCall: { id, name: 'get_weather', args: { city } },
    ...(at === 0 && { thoughtSignature: SECRET }),
  }))
  const thought = { text: 'Two.', thought: true }
  const chunk = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    responseId: 'r1',
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
  })
  const stop = { finishReason: 'STOP' }
  const error = (status: string, more: object = {}) => ({ error: { status, ...more } })
  const tooMany = 'The input token count (9) exceeds the maximum number of tokens allowed (8).'
  const details = [{ '@type': 'RetryInfo', retryDelay: '7.5s' }]
  const declared = [{ name: 'get_weather', description: 'Weather.', parametersJsonSchema: SCHEMA }]
  const system = { role: 'user', parts: [{ text: 'Be brief.' }] }
  return {
    model: 'gemini-3-pro-preview',
    stranger: 'gemini-2.5-flash',
    ask: {
      events: [chunk([thought]), chunk(calls), chunk([], stop)],
      body: chunk([thought, ...calls], stop),
    },
    answer: {
      events: [chunk([{ text: '4 and' }]), chunk([{ text: ' 18.' }], stop)],
      body: chunk([{ text: ANSWER }], stop),
    },
    sent: () => ({
      systemInstruction: system,
      tools: [{ functionDeclarations: declared }],
      generationConfig: {},
      contents: [
        { role: 'user', parts: [{ text: QUESTION.text }] },
        { role: 'model', parts: [thought, ...calls] },
        {
          role: 'user',
          parts: CITIES.map(([id]) => ({
            functionResponse: { id, name: 'get_weather', response: { output: '4 C' } },
          })),
        },
      ],
    }),
    custom: {
      settings: {
        hostedTools: [{ googleSearch: {} }],
        params: { temperature: 0, toolConfig: { includeServerSideToolInvocations: true } },
      },
      request: { toolChoice: { tool: 'get_weather' }, output: OUTPUT },
      body: {
        systemInstruction: system,
        contents: [{ role: 'user', parts: [{ text: QUESTION.text }] }],
        generationConfig: {
          temperature: 0,
          responseMimeType: 'application/json',
          responseJsonSchema: SCHEMA,
        },
        tools: [{ functionDeclarations: declared }, { googleSearch: {} }],
        toolConfig: {
          includeServerSideToolInvocations: true,
          functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
        },
      },
    },
    choiceMembers: ['toolConfig'],
    unfinished: [],
    failures: [
      [400, error('INVALID_ARGUMENT', { message: 'no' }), 'E_PROVIDER_BAD_REQUEST'],
      [400, error('INVALID_ARGUMENT', { message: tooMany }), 'E_PROVIDER_CONTEXT_TOO_LONG'],
      [
        400,
        error('INVALID_ARGUMENT', {
          message: 'API key not valid.',
          details: [{ '@type': 'ErrorInfo', reason: 'API_KEY_INVALID' }],
        }),
        'E_PROVIDER_AUTH',
      ],
      [403, error('PERMISSION_DENIED'), 'E_PROVIDER_AUTH'],
      [404, error('NOT_FOUND'), 'E_PROVIDER_NOT_FOUND'],
      [429, error('RESOURCE_EXHAUSTED'), 'E_PROVIDER_RATE_LIMITED'],
      [500, error('INTERNAL'), 'E_PROVIDER_UNAVAILABLE'],
      [503, 'not JSON', 'E_PROVIDER_UNAVAILABLE'],
    ],
    retry: {
      exchange: { status: 429, body: error('RESOURCE_EXHAUSTED', { message: 'quota', details }) },
      retryAfterMs: 7500,
    },
  }
}

/** How each protocol says it. */
export const MODEL_SAMPLES: Readonly<Record<WireApi, ModelSample>> = {
  'openai-responses': responsesSample(),
  foundry: responsesSample(),
  'openai-chat': chatSample(),
  'anthropic-messages': anthropic(),
  gemini: gemini(),
}
