import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { anthropicMessages } from '../../src/providers/anthropic/index.ts'
import { validateRequest } from '../../src/providers/anthropic/validate/validate.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'

type Body = { readonly messages: { readonly role: string; readonly content: unknown }[] }

/** A turn over scripted responses, with the official client in between. */
async function play(...responses: readonly object[]) {
  const bodies: Body[] = []
  const client = new Anthropic({
    apiKey: 'test',
    baseURL: 'http://127.0.0.1:9',
    maxRetries: 0,
    fetch: async (_url, init) => {
      bodies.push(JSON.parse(init?.body as string) as Body)
      const response = responses[bodies.length - 1]
      return response === undefined ? Response.error() : Response.json(response)
    },
  })
  const ran: unknown[] = []
  const roll = new Tool({
    name: 'roll',
    description: 'Rolls a die.',
    inputSchema: z.object({ who: z.string() }),
    effect: 'read',
    handler: ({ who }) => {
      ran.push(who)
      return `${who} rolled a 4`
    },
  })
  const runner = new TurnRunner({
    model: anthropicMessages({ client, model: 'claude-test-1', streaming: false }),
    tools: [roll],
  })
  const outcome = await runner.run({ message: 'Play.' })
  return { outcome, bodies, ran }
}

const message = (id: string, stop_reason: string, content: object[], more: object = {}) => ({
  id,
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
  usage: { input_tokens: 1, output_tokens: 1 },
  ...more,
})
const text = (words: string) => ({ type: 'text', text: words })
const rolled = (id: string, who: string, caller: object = { type: 'direct' }) => ({
  type: 'tool_use',
  id,
  name: 'roll',
  input: { who },
  caller,
})
const server = (id: string, name: string) => ({ type: 'server_tool_use', id, name, input: {} })
const signed = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }

describe('a turn with anthropicMessages', () => {
  it('continues after a pause with the same content', async () => {
    const paused = [signed, text('Searching.'), server('srvtoolu_1', 'web_search')]
    const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
    const { outcome, bodies } = await play(
      message('msg_1', 'pause_turn', paused),
      message('msg_2', 'end_turn', [found, text('Nothing.')]),
    )
    expect(outcome).toMatchObject({ status: 'completed', text: 'Nothing.' })
    expect(bodies[1]?.messages.at(-1)).toEqual({ role: 'assistant', content: paused })
    expect(bodies.flatMap((body) => validateRequest(body))).toEqual([])
  })

  it('leaves a server call open beside its own, and takes the result with the next response', async () => {
    const mixed = [signed, rolled('toolu_1', 'ann'), server('srvtoolu_1', 'tool_search_tool_bm25')]
    const found = {
      type: 'tool_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'tool_search_tool_search_result', tool_references: [] },
    }
    const { outcome, bodies, ran } = await play(
      message('msg_1', 'tool_use', mixed),
      message('msg_2', 'tool_use', [found, rolled('toolu_2', 'bob')]),
      message('msg_3', 'end_turn', [text('Draw.')]),
    )
    expect(outcome).toMatchObject({ status: 'completed', text: 'Draw.' })
    expect(ran).toEqual(['ann', 'bob'])
    expect(bodies[2]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: mixed },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      { role: 'assistant', content: [found, rolled('toolu_2', 'bob')] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2' }] },
    ])
    expect(bodies.flatMap((body) => validateRequest(body))).toEqual([])
  })

  it('answers calls made from code in the container that the code runs in', async () => {
    const container = { id: 'container_1', expires_at: '2999-01-01T00:00:00Z' }
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const output = { type: 'code_execution_result', stdout: 'ok', stderr: '', return_code: 0 }
    const { outcome, bodies, ran } = await play(
      message(
        'msg_1',
        'tool_use',
        [server('srvtoolu_1', 'code_execution'), rolled('toolu_1', 'ann', caller)],
        { container },
      ),
      message('msg_2', 'tool_use', [rolled('toolu_2', 'bob', caller)], { container }),
      message('msg_3', 'end_turn', [
        { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: output },
        text('Draw.'),
      ]),
    )
    expect(outcome).toMatchObject({ status: 'completed', text: 'Draw.' })
    expect(ran).toEqual(['ann', 'bob'])
    expect(bodies.map((body) => (body as { container?: unknown }).container)).toEqual([
      undefined,
      'container_1',
      'container_1',
    ])
    expect(bodies[2]?.messages[3]).toEqual({
      role: 'assistant',
      content: [rolled('toolu_2', 'bob', caller)],
    })
    expect(bodies.flatMap((body) => validateRequest(body))).toEqual([])
  })
})
