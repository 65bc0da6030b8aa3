import type { WireApi } from '../../src/model/wire/wire-adapter.ts'

/** One response of a conversation: what the model thought and asked for, and what came back. */
export interface Step {
  readonly thought: string
  readonly signature: string
  readonly calls: readonly {
    readonly id: string
    readonly tool: string
    readonly args: { readonly [name: string]: string | number }
    readonly result: string
  }[]
}

type Json = Record<string, unknown>

/** A conversation of 30 calls in 15 responses of one, two and three calls. */
export function steps(label: string, responses = 15): readonly Step[] {
  return Array.from({ length: responses }, (_, response) => ({
    thought: `step ${response}`,
    signature: `sig-${label}-${response}==`,
    calls: Array.from({ length: (response % 3) + 1 }, (_call, index) => ({
      id: `${label}_${response}_${index}`,
      tool: index === 1 ? 'read_log' : 'search',
      args: { query: `query ${response}.${index} — “ü”`, limit: response },
      result: `result ${response}.${index}`,
    })),
  }))
}

/** How each protocol's own client would write the conversation: the list that its request holds. */
export const nativeHistory: Readonly<Record<WireApi, (steps: readonly Step[]) => Json[]>> = {
  'openai-responses': responsesHistory,
  foundry: responsesHistory,
  'openai-chat': (all) => [
    { role: 'user', content: 'Find out why.' },
    ...all.flatMap(({ calls }) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: calls.map(({ id, tool, args }) => ({
          id,
          type: 'function',
          function: { name: tool, arguments: JSON.stringify(args) },
        })),
      },
      ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
    ]),
  ],
  'anthropic-messages': (all) => [
    { role: 'user', content: 'Find out why.' },
    ...all.flatMap(({ thought, signature, calls }) => [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: thought, signature },
          ...calls.map(({ id, tool, args }) => ({ type: 'tool_use', id, name: tool, input: args })),
        ],
      },
      {
        role: 'user',
        content: calls.map(({ id, result }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: result,
        })),
      },
    ]),
    // The next user message would join the results in one message.
    { role: 'assistant', content: [{ type: 'text', text: 'That is why.' }] },
  ],
  // Without ids, as this provider sends most of its calls; only the first of a step is signed.
  gemini: (all) => [
    { role: 'user', parts: [{ text: 'Find out why.' }] },
    ...all.flatMap(({ signature, calls }) => [
      {
        role: 'model',
        parts: calls.map(({ tool, args }, index) => ({
          functionCall: { name: tool, args },
          ...(index === 0 && { thoughtSignature: signature }),
        })),
      },
      {
        role: 'user',
        parts: calls.map(({ tool, result }) => ({
          functionResponse: { name: tool, response: { output: result } },
        })),
      },
    ]),
  ],
}

function responsesHistory(all: readonly Step[]): Json[] {
  return [
    { type: 'message', role: 'user', content: 'Find out why.' },
    ...all.flatMap(({ thought, signature, calls }, index) => [
      {
        type: 'reasoning',
        id: `rs_${index}_${signature}`,
        summary: [{ type: 'summary_text', text: thought }],
        encrypted_content: signature,
      },
      ...calls.map(({ id, tool, args }) => ({
        type: 'function_call',
        call_id: id,
        name: tool,
        arguments: JSON.stringify(args),
      })),
      ...calls.map(({ id, result }) => ({
        type: 'function_call_output',
        call_id: id,
        output: result,
      })),
    ]),
  ]
}

const OPAQUE = new Set([
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'signature',
  'thoughtSignature',
  'encrypted_content',
])

/** Every id and signature in a payload, in order. */
export function opaqueValues(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(opaqueValues)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    OPAQUE.has(key) ? [`${key} ${String(member)}`] : opaqueValues(member),
  )
}
