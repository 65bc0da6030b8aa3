import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { subAgent } from '../../src/turn/nested/sub-agent.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { sampleTool } from '../turn-samples.ts'
import { cli } from './in-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-usage-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const used = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 100,
  cacheWriteTokens: 50,
})

beforeAll(async () => {
  const store = sqliteStore(join(cwd, 'agent.db'))
  const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })
  const inner = scriptedModel([{ parts: [{ text: 'inner' }], usage: used(1000, 10) }])
  const ask = subAgent({ name: 'ask', description: 'Asks.', agent: { model: inner } })
  const model = scriptedModel([
    { parts: [{ call: 'pay' }], usage: used(1000, 10) },
    { parts: [{ text: 'paid' }], usage: used(2000, 20) },
    { parts: [{ call: 'ask', args: { task: 'x' } }], usage: used(3000, 30) },
    { parts: [{ text: 'done' }], usage: used(4000, 40) },
  ])
  const price = { input: 1, output: 2, cached: 0.1, cacheWrite: 1.25 }
  const prices = { [model.model]: price }
  const runner = new TurnRunner({ store, model, tools: [pay, ask], prices })
  const turn = { conversation: 'shop', message: 'hi' }
  const { gates } = await runner.run({ ...turn, turnId: 'first' })
  const decisions = gates.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
  await runner.resume({ conversation: 'shop', decisions })
  await runner.run({ ...turn, turnId: 'second' })
  await store.close()
})

const json = async (...args: string[]) => {
  const { stdout, code } = await cli(['usage', '--json', '--store', 'agent.db', ...args], { cwd })
  expect(code).toBe(0)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('bobbin usage', () => {
  it('sums the model calls of every turn, with those that continue it', async () => {
    const turns = await json('shop')
    expect(turns).toMatchObject([
      {
        conversation: 'shop',
        turnId: 'first',
        modelCalls: 2,
        failed: 0,
        inputTokens: 3000,
        cachedInputTokens: 200,
        cacheWriteTokens: 100,
        outputTokens: 30,
        cost: expect.closeTo((2700 + 200 * 0.1 + 100 * 1.25 + 30 * 2) / 1_000_000, 9) as number,
      },
      { turnId: 'second', modelCalls: 2, inputTokens: 7000, nested: { inputTokens: 1000 } },
    ])
  })

  it('lists conversations, those of sub-agents too, and shows a total', async () => {
    const all = await json()
    expect(all).toHaveLength(2)
    expect(all.find(({ conversation }) => conversation === 'shop')).toMatchObject({
      modelCalls: 4,
      inputTokens: 10_000,
    })
    const { stdout } = await cli(['usage', '--store', 'agent.db', 'shop'], { cwd })
    const lines = stdout.trim().split('\n')
    expect(lines[0]).toMatch(/^turn +calls +input +cached +written +output +reasoning +cost$/)
    expect(lines.find((line) => line.startsWith('total'))).toMatch(
      /^total +4 +10,000 +400 +200 +100 +0 +0\.\d{4}$/,
    )
    expect(lines.at(-1)).toMatch(/^in sub-agents +1,000 +100 +50 +10 +0 +/)
  })

  it('counts what a fork has taken over in its origin only', async () => {
    const store = sqliteStore(join(cwd, 'agent.db'))
    await store.fork('shop', { to: 'other shop' })
    await store.close()
    const all = await json()
    expect(all.map(({ conversation }) => conversation)).not.toContain('other shop')
    expect(await json('other shop')).toMatchObject([{ modelCalls: 2 }, { modelCalls: 2 }])
  })

  it('counts a response in flight once', async () => {
    const store = sqliteStore(join(cwd, 'kept.db'))
    const { epoch } = await store.acquire('c', { owner: 'test' })
    const call = { iteration: 1, digests: {} }
    const entries = [
      { id: '1/kept/1', continuation: 'resp_1', ...call },
      { id: '1', usage: used(10, 1), ...call },
    ].map((data) => ({ kind: 'model-call', turnId: 't', data }) as const)
    await store.append('c', epoch, entries)
    await store.close()
    const { stdout } = await cli(['usage', '--json', '--store', 'kept.db'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ modelCalls: 1, inputTokens: 10 })
  })

  it('says that there is nothing, and refuses what it does not know', async () => {
    const store = sqliteStore(join(cwd, 'empty.db'))
    const { epoch } = await store.acquire('empty', { owner: 'test' })
    await store.release('empty', epoch)
    await store.close()
    const { stderr, code } = await cli(['usage', '--store', 'empty.db'], { cwd })
    expect([stderr, code]).toEqual(['No model calls found.\n', 0])
    const unknown = await cli(['usage', '--store', 'agent.db', 'nowhere'], { cwd })
    expect(unknown.code).not.toBe(0)
    expect((await cli(['usage', 'a', 'b'], { cwd })).stderr).toContain('takes one conversation')
  })
})
