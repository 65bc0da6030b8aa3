import { beforeAll, describe, expect, it } from 'vitest'
import { propagateContext, type Traced, traced } from '../../test/otel/traced.ts'
import { sampleTool } from '../../test/turn-samples.ts'
import type { JsonValue } from '../core/json/json.ts'
import { type ScriptedModel, scriptedModel } from '../testing/scripted-model.ts'
import type { Middleware } from '../turn/call/middleware.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { listText, MAX_CONTENT } from './content.ts'

beforeAll(propagateContext)

const same = (value: JsonValue) => value
const [INPUT, OUTPUT] = ['gen_ai.input.messages', 'gen_ai.output.messages']
const said = (text: string) => ({ type: 'text', content: text })
const jsonOf = (sdk: Traced, place: number, name: string): unknown =>
  JSON.parse(
    String(sdk.spans().filter((each) => each.name === 'chat scripted')[place]?.attributes[name]),
  )

describe('the messages of a model call', () => {
  it('are what it read, and one message that it wrote', async () => {
    const sdk = traced({ content: true })
    const look = sampleTool('look', () => 'seen')
    const model = scriptedModel([
      [{ text: 'Let me.' }, { call: 'look', id: 'c1', args: { q: 'a' } }, { thought: 'Hm.' }],
      { parts: [{ text: 'so' }], finish: 'length' },
    ])
    const runner = new TurnRunner({
      instructions: 'Be.',
      model,
      tools: [look],
      telemetry: sdk.telemetry,
    })
    await runner.run({ conversation: 'c', message: 'go' })
    const call = { type: 'tool_call', id: 'c1', name: 'look', arguments: { q: 'a' } }
    expect([
      jsonOf(sdk, 0, 'gen_ai.system_instructions'),
      jsonOf(sdk, 0, INPUT),
      jsonOf(sdk, 0, OUTPUT),
      jsonOf(sdk, 1, OUTPUT),
    ]).toEqual([
      [said(expect.stringMatching(/^Be\./) as string)],
      [{ role: 'user', parts: [said('go')] }],
      [{ role: 'assistant', parts: [said('Let me.'), call], finish_reason: 'tool_call' }],
      [{ role: 'assistant', parts: [said('so')], finish_reason: 'length' }],
    ])
    const read = jsonOf(sdk, 1, INPUT) as readonly { role: string; parts: readonly object[] }[]
    expect(read.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'tool'])
    expect(read[3]?.parts).toMatchObject([{ type: 'tool_call_response', id: 'c1' }])
  })

  it('keep the newest ones within the limit', () => {
    expect(MAX_CONTENT).toBe(32_768)
    const text = listText([{ old: 'x'.repeat(MAX_CONTENT) }, { a: 1 }, { b: 2 }], same)
    expect(JSON.parse(text)).toEqual([{ a: 1 }, { b: 2 }])
    const exact = ['x'.repeat(10), 'y'.repeat(MAX_CONTENT - 17)]
    expect([listText(exact, same), listText(exact, same).length]).toEqual([
      JSON.stringify(exact),
      MAX_CONTENT,
    ])
    expect(JSON.parse(listText([...exact, 'z'], same))).toEqual([exact[1], 'z'])
  })

  it.each([
    ['m'.repeat(40_000), 'm'.repeat(24_000)],
    [`${'m'.repeat(23_999)}😀${'m'.repeat(20_000)}`, 'm'.repeat(23_999)],
    ['\u0000'.repeat(40_000), '\u0000'.repeat(2_000)],
  ])('keep the newest one, cut, if it alone is too long (%#)', async (message, kept) => {
    const sdk = traced({ content: true })
    const model = scriptedModel([[{ text: 'so' }]])
    const runner = new TurnRunner({ instructions: message, model, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message })
    const cut = said(`${kept}… [cut]`)
    expect(jsonOf(sdk, 0, INPUT)).toEqual([{ role: 'user', parts: [cut] }])
    expect(jsonOf(sdk, 0, 'gen_ai.system_instructions')).toEqual([cut])
  })

  it('say that they are cut if they are made of too many pieces', () => {
    const parts = Array.from({ length: 10_000 }, () => said('x'))
    expect(JSON.parse(listText([{ role: 'user', parts }], same))).toEqual([
      { role: 'user', parts: [said('… [cut]')] },
    ])
  })
})

describe('secrets in contents', () => {
  const SECRET = 'SECRET-1234567890'
  const told = () => new Error(`The key is ${SECRET}.${'x'.repeat(40_000)}`)

  /** What a turn exports whose handler got the secret. */
  async function exported(layer: Middleware, steps?: ScriptedModel) {
    const sdk = traced({ content: true })
    const look = sampleTool('look', async (_args, ctx) => `It is ${await ctx.secret?.('key')}.`, {
      effect: 'write',
    })
    const asks = [{ call: 'look', id: 'c1', args: { q: 'x' } }]
    const model = steps ?? scriptedModel([asks, [{ text: `I say ${SECRET}.` }]])
    const runner = new TurnRunner({
      model,
      tools: [look],
      policy: 'open',
      secrets: () => SECRET,
      telemetry: sdk.telemetry,
      middleware: [layer],
    })
    await runner.run({ conversation: 'c', message: 'go' })
    return sdk
  }

  const textOf = (sdk: Traced) =>
    JSON.stringify(
      sdk.spans().map(({ attributes, status, events }) => [attributes, status, events]),
    )

  it.each([
    ['turn', { turn: async (_: unknown, next: () => Promise<unknown>) => fails(next) }],
    ['dispatch', { dispatch: async (_: unknown, next: () => Promise<unknown>) => fails(next) }],
  ])('are removed from what a %s layer throws, and the text is cut', async (_, layer) => {
    const sdk = await exported(layer)
    const { message } = sdk.span('invoke_agent').status
    expect(message).toContain('The key is [secret].')
    expect(message?.length).toBeLessThanOrEqual(MAX_CONTENT)
    expect(textOf(sdk)).not.toContain(SECRET)
  })

  async function fails(next: () => Promise<unknown>): Promise<never> {
    await next()
    throw told()
  }

  it('are removed from messages, results and errors of models', async () => {
    const asks = [{ call: 'look', id: 'c1', args: { q: 'x' } }]
    const sdk = await exported({}, scriptedModel([asks, { error: told() }]))
    expect(sdk.span('execute_tool look').attributes['gen_ai.tool.call.result']).toBe(
      'It is [secret].',
    )
    const failed = sdk.spans().at(-1)
    expect(failed?.status.message).toContain('The key is [secret].')
    expect(failed?.status.message).toHaveLength(MAX_CONTENT)
    expect(textOf(sdk)).not.toContain(SECRET)
    const answered = await exported({})
    expect(jsonOf(answered, 1, OUTPUT)).toEqual([
      { role: 'assistant', parts: [said('I say [secret].')], finish_reason: 'stop' },
    ])
    expect(textOf(answered)).not.toContain(SECRET)
  })
})

describe('the kind of an error', () => {
  class LostOrder extends Error {}
  const named = Object.assign(new Error('x'), { name: 'CANARY_ann' })
  const shaped = Object.assign(new Error('x'), { constructor: { name: 'CANARY_ann' } })
  class Long extends Error {}
  Object.defineProperty(Long, 'name', { value: `E${'x'.repeat(64)}` })

  it.each([
    ['its class', new LostOrder('x'), 'LostOrder'],
    ['its class, whatever its `name` is', named, 'Error'],
    ['its class, whatever its `constructor` is', shaped, 'Error'],
    ['_OTHER for a long name', new Long('x'), '_OTHER'],
    ['_OTHER for what is no error', 'CANARY_ann', '_OTHER'],
  ])('is %s', async (_, thrown, type) => {
    const sdk = traced()
    const check = () => {
      throw thrown as Error
    }
    const model = scriptedModel([{ check, parts: [] }])
    const runner = new TurnRunner({ model, telemetry: sdk.telemetry })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(sdk.span('chat scripted').attributes['error.type']).toBe(type)
    expect(JSON.stringify(await sdk.measured())).not.toContain('CANARY')
    expect(await sdk.points('gen_ai.client.inference.duration')).toMatchObject([
      { attributes: { 'error.type': type } },
    ])
  })

  it('is no text that a middleware layer made up', async () => {
    const sdk = traced()
    const reason = { code: 'CANARY of ann', message: 'CANARY' }
    const turn = async () => ({ status: 'failed', reason }) as never
    const model = scriptedModel([[{ text: 'so' }]])
    await new TurnRunner({ model, telemetry: sdk.telemetry, middleware: [{ turn }] }).run({
      message: 'go',
    })
    const { attributes, status } = sdk.span('invoke_agent')
    expect([attributes['error.type'], attributes['bobbin.turn.reason'], status]).toEqual([
      '_OTHER',
      '_OTHER',
      { code: 2 },
    ])
  })
})
