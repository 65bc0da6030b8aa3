import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { foundry } from '../../src/providers/foundry/index.ts'
import { openaiResponses } from '../../src/providers/openai/index.ts'
import { loopbackProvider } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'

const services = { 'openai-responses': openaiResponses, foundry }
type Service = keyof typeof services
type Body = { readonly input: readonly { readonly type?: string }[] }

/** A turn over scripted responses, with the official client in between. */
async function play(api: Service, ...outputs: readonly (readonly object[])[]) {
  const server = await loopbackProvider({
    api,
    exchanges: outputs.map((output, at) => ({
      body: { id: `resp_${at}`, object: 'response', status: 'completed', output },
    })),
    validate: wire(api).validate,
  })
  onTestFinished(() => server.close())
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
  const client = new OpenAI({ apiKey: 'test', baseURL: server.url, maxRetries: 0 })
  const model = services[api]({ client, model: 'gpt-5.4', streaming: false })
  const outcome = await new TurnRunner({ model, tools: [roll] }).run({ message: 'Play.' })
  const inputs = server.requests.map(({ body }) => (body as Body).input)
  return { outcome, ran, inputs, violations: server.requests.flatMap((r) => r.violations) }
}

const call = (call_id: string, name: string, args: object) => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: JSON.stringify(args),
  status: 'completed',
})
const said = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
})

describe.each(Object.keys(services) as Service[])('a turn with %s', (api) => {
  it('takes a leaked `parallel` wrapper for one call of a tool that there is not', async () => {
    const uses = ['ann', 'bob'].map((who) => ({
      recipient_name: 'functions.roll',
      parameters: { who },
    }))
    const { outcome, ran, inputs, violations } = await play(
      api,
      [call('call_w', 'parallel', { tool_uses: uses })],
      [call('call_a', 'roll', { who: 'ann' }), call('call_b', 'roll', { who: 'bob' })],
      [said('Draw.')],
    )
    expect(outcome).toMatchObject({ status: 'completed', text: 'Draw.' })
    // The calls inside have no ids of their own, so none of them runs.
    expect(outcome.toolCalls).toMatchObject([
      { id: 'call_w', tool: 'parallel', settlement: 'refused', isError: true },
      { id: 'call_a', tool: 'roll', settlement: 'ok' },
      { id: 'call_b', tool: 'roll', settlement: 'ok' },
    ])
    expect(ran).toEqual(['ann', 'bob'])
    const answers = inputs[1]?.filter(({ type }) => type === 'function_call_output')
    expect(answers).toMatchObject([{ call_id: 'call_w', output: expect.stringContaining('roll') }])
    expect(violations).toEqual([])
  })

  it('settles what the provider ran and sends it back once', async () => {
    const search = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'dice', sources: [] },
    }
    const { outcome, ran, inputs, violations } = await play(
      api,
      [search, call('call_a', 'roll', { who: 'ann' })],
      [said('Four.')],
    )
    const record = outcome.toolCalls.find(({ tool }) => tool === 'web_search')
    expect(record).toMatchObject({ id: 'ws_1', executedBy: 'provider', isComplete: true })
    expect(ran).toEqual(['ann'])
    expect(inputs[1]?.filter(({ type }) => type === 'web_search_call')).toEqual([search])
    expect(violations).toEqual([])
  })
})
