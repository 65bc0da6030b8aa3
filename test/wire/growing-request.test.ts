import type Anthropic from '@anthropic-ai/sdk'
import type { GoogleGenAI } from '@google/genai'
import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { Model } from '../../src/model/model.ts'
import { anthropicMessages } from '../../src/providers/anthropic/index.ts'
import { foundry } from '../../src/providers/foundry/index.ts'
import { gemini } from '../../src/providers/gemini/index.ts'
import { openaiChat, openaiResponses } from '../../src/providers/openai/index.ts'
import { growingHistory } from '../../src/records/growing-history.ts'
import type { HistoryItem } from '../../src/records/history-item.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type WireApi, wire } from '../../src/wire/index.ts'

type Body = Readonly<Record<string, unknown>>

/** What a client answers to each body that it is handed, and every body as the object it was. */
interface Wiretap {
  readonly bodies: Body[]
  readonly answers: readonly object[]
}

/** A client that keeps what it is handed: only here can be seen whether lists are copied. */
function take({ bodies, answers }: Wiretap, body: Body): object {
  bodies.push(body)
  return answers[Math.min(bodies.length, answers.length) - 1] ?? {}
}

const responding = (tap: Wiretap, body: Body) => ({
  asResponse: async () => Response.json(take(tap, body)),
})

function openai(tap: Wiretap): OpenAI {
  const create = (body: Body) => responding(tap, body)
  return { baseURL: 'x', responses: { create }, chat: { completions: { create } } } as never
}

const models: Readonly<Record<WireApi, (tap: Wiretap) => Model>> = {
  'openai-responses': (tap) =>
    openaiResponses({ client: openai(tap), model: 'm', streaming: false }),
  foundry: (tap) => foundry({ client: openai(tap), model: 'm', streaming: false }),
  'openai-chat': (tap) => openaiChat({ client: openai(tap), model: 'm', streaming: false }),
  'anthropic-messages': (tap) => {
    const client = { baseURL: 'x', messages: { create: (body: Body) => responding(tap, body) } }
    return anthropicMessages({
      client: client as unknown as Anthropic,
      model: 'm',
      streaming: false,
    })
  },
  gemini: (tap) => {
    const generateContent = async (body: Body) => take(tap, body)
    const client = { models: { generateContent } } as unknown as GoogleGenAI
    return gemini({ client, model: 'm', streaming: false })
  },
}

const asked = { name: 'look', arguments: '{"at":1}' }
const calling: Readonly<Record<WireApi, object>> = {
  'openai-responses': responsesCall(),
  foundry: responsesCall(),
  'openai-chat': {
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: asked }],
        },
      },
    ],
  },
  'anthropic-messages': {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', id: 'c', name: 'look', input: { at: 1 } }],
  },
  gemini: {
    candidates: [
      {
        finishReason: 'STOP',
        content: { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 1 } } }] },
      },
    ],
  },
}

function responsesCall() {
  const item = { type: 'function_call', id: 'fc', call_id: 'c', ...asked, status: 'completed' }
  return { id: 'r', status: 'completed', output: [item] }
}

/** The conversation in a body, whatever it is called. */
const listOf = ({ input, messages, contents }: Body) =>
  (input ?? messages ?? contents) as readonly object[]

const call = (n: number): HistoryItem => ({
  type: 'call',
  id: `c${n}`,
  tool: 'look',
  args: { at: n },
  executedBy: 'runner',
  response: `r${n}`,
  wire: { provider: 'p', api: 'elsewhere', type: 'call', callId: `c${n}`, origin: 'natural' },
  result: { isError: false, parts: [{ type: 'text', text: `seen ${n}` }] },
})

describe.each(Object.keys(models) as WireApi[])('a request of %s', (api) => {
  const tapped = () => {
    const tap: Wiretap = { bodies: [], answers: [calling[api]] }
    const model = models[api](tap)
    const ask = async (items: readonly HistoryItem[], instructions = 'Be brief.') => {
      for await (const event of model.stream({ items, instructions })) void event
      return listOf(tap.bodies.at(-1) ?? {})
    }
    return { tap, model, ask }
  }

  it('goes on with the list of the one before, and makes nothing in it anew', async () => {
    const { ask } = tapped()
    const items = growingHistory(Array.from({ length: 50 }, (_, n) => call(n)))
    const list = await ask(items)
    const before = [...list]
    items.push(call(50))
    expect(await ask(items)).toBe(list)
    expect(list.length).toBeGreaterThan(before.length)
    // The first may be the instructions, the last may be joined with what comes: all between is the
    // very same.
    const kept = before.slice(1, -2)
    expect(kept.every((entry, at) => entry === list[at + 1])).toBe(true)
  })

  it('holds what a request of its own would hold, whatever the instructions are', async () => {
    const { ask } = tapped()
    const items = growingHistory()
    for (const [n, instructions] of ['One.', 'One.', '', 'Two.', 'Two.', ''].entries()) {
      items.push(call(2 * n), call(2 * n + 1))
      expect(await ask(items, instructions)).toEqual(await tapped().ask([...items], instructions))
    }
  })

  it('is not changed by another that is made while it is on its way', async () => {
    const { tap, model } = tapped()
    const items = growingHistory([call(0)])
    const send = async () => {
      for await (const event of model.stream({ items })) void event
    }
    const first = send()
    items.push(call(1))
    await Promise.all([first, send()])
    const lengths = tap.bodies.map((body) => listOf(body).length)
    expect(lengths[0]).toBeLessThan(lengths[1] ?? 0)
    expect(tap.bodies.map((body) => wire(api).validate(body))).toEqual([[], []])
  })

  it('of a turn goes on with the list of the request before', async () => {
    const tap: Wiretap = { bodies: [], answers: [calling[api]] }
    const look = new Tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object' },
      effect: 'read',
      repeat: false,
      handler: () => 'seen',
    }) as Tool
    for (const budget of [undefined, { maxTokens: 100_000 }]) {
      tap.bodies.length = 0
      const runner = new TurnRunner({
        model: models[api](tap),
        tools: [look],
        maxIterations: 6,
        ...(budget && { budget }),
      })
      const { reason } = await runner.run({ message: 'go' })
      expect(reason?.code).toBe('MAX_ITERATIONS')
      expect(tap.bodies).toHaveLength(6)
      expect(new Set(tap.bodies.map(listOf)).size).toBe(1)
      expect(wire(api).validate(tap.bodies[5])).toEqual([])
    }
  })
})
