import { GoogleGenAI } from '@google/genai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { gemini } from '../../src/providers/gemini/index.ts'
import { validateRequest } from '../../src/providers/gemini/validate/validate.ts'
import {
  type LoopbackProvider,
  loopbackProvider,
} from '../../src/testing/loopback/loopback-provider.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

type Body = { readonly contents: { readonly role: string; readonly parts: object[] }[] }

/** A turn over scripted streams, with the official client in between. */
async function play(...streams: readonly (readonly object[])[]) {
  const server = await loopbackProvider({
    api: 'gemini',
    exchanges: streams.map((events) => ({ events })),
    validate: validateRequest,
  })
  running.push(server)
  const ran: string[] = []
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
  const client = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: server.url } })
  const model = gemini({ client, model: 'gemini-3-pro' })
  const outcome = await new TurnRunner({ model, tools: [roll] }).run({ message: 'Play.' })
  return { outcome, ran, bodies: server.requests.map(({ body }) => body as Body) }
}

const chunk = (parts: object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
})
const rolled = (who: string) => ({ functionCall: { name: 'roll', args: { who } } })
const signed = (part: object) => ({ ...part, thoughtSignature: 'c2ln' })

describe('a turn with gemini', () => {
  it('answers parallel calls without ids by their position and keeps the signature', async () => {
    const { outcome, ran, bodies } = await play(
      [chunk([signed(rolled('Ann'))]), chunk([rolled('Bo')]), chunk([{ text: '' }], 'STOP')],
      [chunk([{ text: 'A draw.' }], 'STOP')],
    )
    expect(outcome).toMatchObject({ status: 'completed', text: 'A draw.' })
    expect(ran).toEqual(['Ann', 'Bo'])
    expect(outcome.toolCalls).toMatchObject([
      { tool: 'roll', wire: { api: 'gemini', origin: 'synthetic' } },
      { tool: 'roll', wire: { api: 'gemini', origin: 'synthetic' } },
    ])
    expect(bodies[1]?.contents[1]).toEqual({
      role: 'model',
      parts: [signed(rolled('Ann')), rolled('Bo')],
    })
    expect(JSON.stringify(bodies[1]?.contents[2])).toMatch(/Ann rolled a 4.*Bo rolled a 4/)
    expect(JSON.stringify(bodies)).not.toContain('"id":')
  })

  it('keeps what server tools brought in the turn of the model', async () => {
    const search = {
      toolCall: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['x'] } },
    }
    const found = { toolResponse: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB', response: { n: 1 } } }
    const { outcome, bodies } = await play(
      [chunk([signed(search), found, signed(rolled('Ann'))], 'STOP')],
      [chunk([{ text: 'Four.' }], 'STOP')],
    )
    expect(outcome.status).toBe('completed')
    expect(bodies[1]?.contents[1]?.parts).toEqual([signed(search), found, signed(rolled('Ann'))])
  })

  it.each(['MAX_TOKENS', 'MALFORMED_FUNCTION_CALL', 'SAFETY'])(
    'runs nothing of a response that ends with %s',
    async (reason) => {
      const { outcome, ran } = await play([chunk([rolled('Ann')], reason)])
      expect(ran).toEqual([])
      expect(outcome.status).not.toBe('completed')
    },
  )
})
