import { describe, expect, it } from 'vitest'
import { eventRecorder } from '../../src/testing/event-recorder.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import type { WireApi } from '../../src/wire/index.ts'
import { sampleTool } from '../turn-samples.ts'
import { connectModel } from './connect-model.ts'

const ARGS = ['{"q":"a"}', '{"q":"b"}']
const halves = (text: string) => [text.slice(0, 4), text.slice(4)]

/** Two calls whose arguments come in pieces, mixed where the protocol allows it. */
const EVENTS: Readonly<Record<Exclude<WireApi, 'foundry'>, readonly object[]>> = {
  'openai-responses': responses(),
  'openai-chat': [
    ...[0, 1].map((index) => ({
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              {
                index,
                id: `c${index}`,
                type: 'function',
                function: { name: 'look', arguments: '' },
              },
            ],
          },
        },
      ],
    })),
    ...[0, 1].flatMap((half) =>
      [0, 1].map((index) => ({
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index, function: { arguments: halves(ARGS[index] ?? '')[half] } }],
            },
          },
        ],
      })),
    ),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ],
  'anthropic-messages': [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: {} },
    },
    ...ARGS.flatMap((args, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'look', input: {} },
      },
      ...halves(args).map((partial_json) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
    { type: 'message_stop' },
  ],
  gemini: [
    ...['a', 'b'].flatMap((stringValue, index) => [
      candidate({ name: 'look', id: `c${index}`, willContinue: true }),
      candidate({
        id: `c${index}`,
        partialArgs: [{ jsonPath: '$.q', stringValue }],
        willContinue: false,
      }),
    ]),
    { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] },
  ],
}

function candidate(functionCall: object) {
  return { candidates: [{ content: { role: 'model', parts: [{ functionCall }] } }] }
}

function responses(): readonly object[] {
  const item = (index: number, args: string, status: string) => ({
    type: 'function_call',
    id: `fc_${index}`,
    call_id: `call_${index}`,
    name: 'look',
    arguments: args,
    status,
  })
  const deltas = (half: number) =>
    ARGS.map((args, output_index) => ({
      type: 'response.function_call_arguments.delta',
      item_id: `fc_${output_index}`,
      output_index,
      delta: halves(args)[half],
    }))
  const output = ARGS.map((args, index) => item(index, args, 'completed'))
  return [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    ...ARGS.map((_, output_index) => ({
      type: 'response.output_item.added',
      output_index,
      item: item(output_index, '', 'in_progress'),
    })),
    ...deltas(0),
    ...deltas(1),
    ...output.map((done, output_index) => ({
      type: 'response.output_item.done',
      output_index,
      item: done,
    })),
    { type: 'response.completed', response: { id: 'r', status: 'completed', output } },
  ]
}

describe.each<WireApi>([
  'openai-responses',
  'openai-chat',
  'foundry',
  'anthropic-messages',
  'gemini',
])('a call over %s', (api) => {
  it('is announced with the id under which its arguments streamed', async () => {
    const events = EVENTS[api === 'foundry' ? 'openai-responses' : api]
    const { model } = await connectModel(api, [{ events }])
    const runner = new TurnRunner({
      model,
      tools: [sampleTool('look', () => 'seen')],
      limits: { iterations: 1 },
    })
    const recorder = eventRecorder(runner)
    await runner.run({ message: 'go' })
    const streamed = new Map<string, string>()
    for (const { id, delta } of recorder.of('toolInput')) {
      streamed.set(id, (streamed.get(id) ?? '') + delta)
    }
    const told = recorder.of('toolCall').filter(({ isComplete }) => !isComplete)
    expect(told.map(({ args }) => args)).toEqual([{ q: 'a' }, { q: 'b' }])
    expect(told.map(({ inputId = '' }) => streamed.get(inputId))).toEqual(ARGS)
  })
})
