import { describe, expect, it } from 'vitest'
import { wire } from '../../src/wire/index.ts'

type Json = Readonly<Record<string, unknown>>

const RESPONSES: readonly Json[] = [
  { type: 'message', role: 'user', content: 'Weather?' },
  { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{"city":"Rome"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'snow' },
  { type: 'function_call_output', call_id: 'call_2', output: 'sun' },
  { type: 'message', role: 'assistant', content: 'Snow and sun.' },
  { type: 'message', role: 'user', content: 'Thanks' },
]
const UNKNOWN_ITEM = { type: 'hologram', id: 'holo_1', beams: [1, { deep: null }] }

/** A request with something new in it, at every place where it can stand. */
function* responses(part = 'input') {
  for (const at of RESPONSES.keys()) {
    // Results stay together: what stood between two of them comes behind the last.
    if (at === 4) continue
    yield [`before item ${at}`, { [part]: RESPONSES.toSpliced(at, 0, UNKNOWN_ITEM) }] as const
  }
  yield ['at the end', { [part]: [...RESPONSES, UNKNOWN_ITEM] }] as const
}

const CHAT: readonly Json[] = [
  { role: 'user', content: 'Weather?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Oslo"}' },
      },
      {
        id: 'call_2',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Rome"}' },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'snow' },
  { role: 'tool', tool_call_id: 'call_2', content: 'sun' },
  { role: 'assistant', content: 'Snow and sun.' },
  { role: 'user', content: 'Thanks' },
]
const UNKNOWN_MESSAGE = { role: 'hologram', beams: [1, { deep: null }] }
const UNKNOWN_BLOCK = { type: 'hologram', beams: [1, { deep: null }] }

function* chat() {
  // Nothing may stand between a call and its results.
  for (const at of [0, 1, 4, 5, 6]) {
    yield [`before message ${at}`, { messages: CHAT.toSpliced(at, 0, UNKNOWN_MESSAGE) }] as const
  }
  const content = [{ type: 'text', text: 'Hm' }, UNKNOWN_BLOCK]
  yield ['in a user message', { messages: [{ role: 'user', content }] }] as const
  yield [
    'alone in a user message',
    { messages: [{ role: 'user', content: [UNKNOWN_BLOCK] }] },
  ] as const
  yield [
    'in an assistant message',
    { messages: [CHAT[0], { role: 'assistant', content }, CHAT[5]] },
  ] as const
  yield [
    'alone in an assistant message',
    { messages: [CHAT[0], { role: 'assistant', content: [UNKNOWN_BLOCK] }, CHAT[5]] },
  ] as const
  yield ['in a system message', { messages: [{ role: 'system', content }, CHAT[0]] }] as const
  const odd = { id: 'call_9', type: 'hologram', hologram: { beams: 1 } }
  yield [
    'among calls',
    {
      messages: [
        CHAT[0],
        { ...CHAT[1], tool_calls: [odd] },
        { role: 'tool', tool_call_id: 'call_9', content: 'x' },
        CHAT[5],
      ],
    },
  ] as const
}

const CLAUDE: readonly { role: string; content: readonly Json[] }[] = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Weather?' },
      { type: 'text', text: 'Now.' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Rome' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'snow' },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_2',
        content: [
          { type: 'text', text: 'sun' },
          { type: 'text', text: 'shine' },
        ],
      },
      { type: 'text', text: 'Well?' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Snow.' },
      { type: 'text', text: 'Sun.' },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Thanks' },
      { type: 'text', text: 'a lot' },
    ],
  },
]

function* claude() {
  for (const [at, { role, content }] of CLAUDE.entries()) {
    for (let place = 0; place <= content.length; place++) {
      // Results come first.
      if (at === 2 && place < 2) continue
      const holding = { role, content: content.toSpliced(place, 0, UNKNOWN_BLOCK) }
      yield [`in message ${at} at ${place}`, { messages: CLAUDE.with(at, holding) }] as const
    }
  }
  const system = { role: 'system', content: [{ type: 'text', text: 'Be kind.' }, UNKNOWN_BLOCK] }
  yield ['in a system message', { messages: [...CLAUDE, system] }] as const
  const alone = { role: 'system', content: [UNKNOWN_BLOCK] }
  yield ['alone in a system message', { messages: [...CLAUDE, alone] }] as const
  yield [
    'as a member of a system message',
    { messages: [...CLAUDE, { role: 'system', content: 'x', clear_at: 'next_user_message' }] },
  ] as const
  yield [
    'system message without content',
    { messages: [...CLAUDE, { role: 'system', output_config: { effort: 'low' } }] },
  ] as const
  yield [
    'as a role',
    { messages: [...CLAUDE, { role: 'hologram', content: [UNKNOWN_BLOCK] }] },
  ] as const
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [UNKNOWN_BLOCK] }
  const results = { role: 'user', content: [result, ...(CLAUDE[2]?.content.slice(1) ?? [])] }
  yield ['in a result', { messages: CLAUDE.with(2, results) }] as const
}

const GEMINI: readonly { role: string; parts: readonly Json[] }[] = [
  { role: 'user', parts: [{ text: 'Weather?' }] },
  {
    role: 'model',
    parts: [
      { text: 'Let me see.' },
      {
        functionCall: { id: 'a', name: 'weather', args: { city: 'Oslo' } },
        thoughtSignature: 'c2ln',
      },
      { functionCall: { id: 'b', name: 'weather', args: { city: 'Rome' } } },
    ],
  },
  {
    role: 'user',
    parts: [
      { functionResponse: { id: 'a', name: 'weather', response: { output: 'snow' } } },
      { functionResponse: { id: 'b', name: 'weather', response: { output: 'sun' } } },
    ],
  },
  { role: 'model', parts: [{ text: 'Snow and sun.' }] },
  { role: 'user', parts: [{ text: 'Thanks' }] },
]
const UNKNOWN_PART = { hologram: { beams: [1, { deep: null }] } }

function* gemini() {
  for (const [at, { role, parts }] of GEMINI.entries()) {
    // A turn of results holds nothing else.
    if (at === 2) continue
    for (let place = 0; place <= parts.length; place++) {
      const holding = { role, parts: parts.toSpliced(place, 0, UNKNOWN_PART) }
      yield [`in turn ${at} at ${place}`, { contents: GEMINI.with(at, holding) }] as const
    }
  }
  const media = {
    functionResponse: {
      id: 'a',
      name: 'weather',
      response: { output: 'snow' },
      parts: [UNKNOWN_PART],
    },
  }
  yield [
    'in a result',
    {
      contents: GEMINI.with(2, {
        role: 'user',
        parts: [media, ...(GEMINI[2]?.parts.slice(1) ?? [])],
      }),
    },
  ] as const
  yield [
    'as a member of a call',
    {
      contents: GEMINI.with(1, {
        role: 'model',
        parts: [
          { functionCall: { id: 'a', name: 'weather', args: {}, hologram: 1 }, beams: 2 },
          ...(GEMINI[1]?.parts.slice(2) ?? []),
        ],
      }),
    },
  ] as const
}

const STEPS: readonly Json[] = [
  { type: 'user_input', content: [{ type: 'text', text: 'Weather?' }] },
  { type: 'thought', signature: 'c2ln' },
  { type: 'function_call', id: 'a', name: 'weather', arguments: { city: 'Oslo' } },
  { type: 'function_call', id: 'b', name: 'weather', arguments: { city: 'Rome' } },
  { type: 'function_result', call_id: 'a', name: 'weather', result: 'snow' },
  { type: 'function_result', call_id: 'b', name: 'weather', result: 'sun' },
  { type: 'model_output', content: [{ type: 'text', text: 'Snow and sun.' }] },
  { type: 'user_input', content: [{ type: 'text', text: 'Thanks' }] },
]

function* interactions() {
  for (const at of STEPS.keys()) {
    // Results stand together, right behind their response.
    if (at === 4 || at === 5) continue
    yield [`before step ${at}`, { input: STEPS.toSpliced(at, 0, UNKNOWN_ITEM) }] as const
  }
  for (const at of [0, 6]) {
    const content = [UNKNOWN_BLOCK, { type: 'text', text: 'Hm' }]
    yield [`in step ${at}`, { input: STEPS.with(at, { ...STEPS[at], content }) }] as const
    const alone = { ...STEPS[at], content: [UNKNOWN_BLOCK] }
    yield [`alone in step ${at}`, { input: STEPS.with(at, alone) }] as const
  }
  for (const at of [2, 4, 6]) {
    const odd = { ...STEPS[at], hologram: { beams: 1 } }
    yield [`as a member of step ${at}`, { input: STEPS.with(at, odd) }] as const
  }
  const result = { ...STEPS[4], result: [UNKNOWN_BLOCK] }
  yield ['in a result', { input: STEPS.with(4, result) }] as const
}

const CONVERSE: readonly { role: string; content: readonly Json[] }[] = [
  { role: 'user', content: [{ text: 'Weather?' }] },
  {
    role: 'assistant',
    content: [
      { text: 'Let me see.' },
      { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Oslo' } } },
    ],
  },
  {
    role: 'user',
    content: [
      { toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'snow' }], status: 'success' } },
      { text: 'Well?' },
    ],
  },
  { role: 'assistant', content: [{ text: 'Snow.' }] },
  { role: 'user', content: [{ text: 'Thanks' }] },
]

function* converse() {
  for (const [at, { role, content: blocks }] of CONVERSE.entries()) {
    for (let place = 0; place <= blocks.length; place++) {
      // Results come first, and calls last.
      if ((at === 2 && place === 0) || (at === 1 && place === blocks.length)) continue
      const holding = { role, content: blocks.toSpliced(place, 0, UNKNOWN_PART) }
      yield [`in message ${at} at ${place}`, { messages: CONVERSE.with(at, holding) }] as const
    }
  }
}

const REQUESTS: Readonly<Record<string, () => Iterable<readonly [string, Json]>>> = {
  'openai-responses': responses,
  foundry: responses,
  'openai-chat': chat,
  'anthropic-messages': claude,
  gemini,
  'gemini-interactions': interactions,
  'bedrock-converse': converse,
}

/** Neighbouring turns of one side mean the same as one turn on Gemini. */
function joined(part: object) {
  const { contents } = part as { contents?: readonly { role: string; parts: readonly Json[] }[] }
  if (contents === undefined) return part
  const turns: { role: string; parts: Json[] }[] = []
  for (const { role, parts } of contents) {
    const last = turns.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else turns.push({ role, parts: [...parts] })
  }
  return { ...part, contents: turns }
}

const text = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hm' }] }
const output = [UNKNOWN_ITEM, text]
const content = [UNKNOWN_BLOCK, { type: 'text', text: 'Hm' }]
const parts = [UNKNOWN_PART, { text: 'Hm' }]
const odd = { id: 'call_9', type: 'hologram', hologram: { beams: 1 } }
const message = { role: 'assistant', content: null, tool_calls: [odd] }

/** A response with something new in it, the same streamed, and what of it goes back. */
const ANSWERS: Readonly<Record<string, { whole: Json; events: readonly Json[]; back: Json }>> = {
  'openai-responses': {
    whole: { id: 'resp_1', status: 'completed', output },
    events: [
      { type: 'response.hologram.beaming', output_index: 0, beam: 1 },
      { type: 'response.output_item.added', output_index: 0, item: UNKNOWN_ITEM },
      { type: 'response.output_item.done', output_index: 0, item: UNKNOWN_ITEM },
      { type: 'response.output_item.done', output_index: 1, item: text },
      { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output } },
    ],
    back: UNKNOWN_ITEM,
  },
  'openai-chat': {
    whole: { id: 'c1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
    events: [
      {
        id: 'c1',
        choices: [{ index: 0, delta: { ...message, tool_calls: [{ index: 0, ...odd }] } }],
      },
      { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ],
    back: odd,
  },
  'anthropic-messages': {
    whole: { type: 'message', role: 'assistant', id: 'msg_1', content, stop_reason: 'end_turn' },
    events: [
      { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [] } },
      { type: 'hologram', beam: 1 },
      { type: 'content_block_start', index: 0, content_block: UNKNOWN_BLOCK },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'Hm' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ],
    back: UNKNOWN_BLOCK,
  },
  gemini: {
    whole: { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] },
    events: [
      { candidates: [{ content: { role: 'model', parts: [UNKNOWN_PART] } }] },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hm' }] }, finishReason: 'STOP' }],
      },
    ],
    back: UNKNOWN_PART,
  },
  'gemini-interactions': {
    whole: { object: 'interaction', status: 'completed', steps: [UNKNOWN_ITEM] },
    events: [
      { event_type: 'interaction.created', interaction: { id: 'v1', status: 'in_progress' } },
      { event_type: 'hologram.beaming', index: 0, beam: 1 },
      { event_type: 'step.start', index: 0, step: { type: 'hologram', id: 'holo_1' } },
      {
        event_type: 'step.delta',
        index: 0,
        delta: { type: 'hologram', beams: UNKNOWN_ITEM.beams },
      },
      { event_type: 'step.stop', index: 0 },
      { event_type: 'interaction.completed', interaction: { id: 'v1', status: 'completed' } },
    ],
    back: UNKNOWN_ITEM,
  },
}

describe.each(Object.entries(ANSWERS))('a response of %s with something new', (api, answer) => {
  const sent = (items: Parameters<ReturnType<typeof wire>['encode']>[0]) =>
    JSON.stringify(wire(api).encode(items))

  it('gives it back as it came', () => {
    expect(sent(wire(api).decode(answer.whole).items)).toContain(JSON.stringify(answer.back))
  })

  it('gives it back as it came when it was streamed', () => {
    const { items, finish } = wire(api).decodeStream(answer.events)
    expect(finish).toBeDefined()
    expect(sent(items)).toContain(JSON.stringify(answer.back))
  })
})

describe.each(Object.entries(REQUESTS))('something new on %s', (api, requests) => {
  it.each([...requests()])('travels back as it came: %s', (_, request) => {
    const { items } = wire(api).decode(request)
    expect(joined(wire(api).encode(items))).toEqual(joined(request))
  })
})
