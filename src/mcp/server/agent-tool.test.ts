import { afterEach, describe, expect, it, vi } from 'vitest'
import { answered, asked, clientOf, plain, textOf } from '../../../test/mcp/serving.ts'
import { byHand } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { TurnRunnerOptions } from '../../turn/options/runner-options.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { type McpServerOptions, mcpServer } from './mcp-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const each of open.splice(0).reverse()) await each.close()
})

type Script = Parameters<typeof scriptedModel>[0]

/** A client of a server with one agent. */
async function serving(
  script: Script,
  agent: Partial<TurnRunnerOptions> = {},
  options: Partial<McpServerOptions> = {},
  client: Parameters<typeof clientOf>[1] = {},
) {
  const store = memoryStore()
  const given = { model: scriptedModel(script), store, ...agent } as TurnRunnerOptions
  const runner = new TurnRunner(given)
  const server = mcpServer({ tools: [], agents: { agent: runner }, ...options })
  open.push(server)
  const connected = await clientOf(server, client)
  open.push(connected)
  const ask = (args: object = {}, more: object = {}) =>
    connected.callTool({ name: 'agent', arguments: { message: 'Go.', ...args } }, more)
  return { client: connected, runner, server, store, ask }
}

describe('the turn of an agent', () => {
  it('takes as long as the runner of the agent allows', async () => {
    const begun = byHand()
    const slow = () => {
      begun.resolve()
      return new Promise((resolve) => setTimeout(resolve, 50 * 60_000, 'late'))
    }
    const { ask } = await serving([[{ call: 'slow' }], [{ text: 'Done.' }]], {
      tools: [plain('slow', slow, { timeoutMs: 60 * 60_000 })],
      limits: { timeMs: 2 * 60 * 60_000 },
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const result = ask({}, { timeout: 3 * 60 * 60_000 })
    await begun.promise
    await vi.advanceTimersByTimeAsync(51 * 60_000)
    expect((await result).structuredContent).toMatchObject({ answer: 'Done.' })
  })

  it('gives the conversation when it ends without an answer', async () => {
    const { ask, store } = await serving([[{ call: 'none' }]], { limits: { iterations: 1 } })
    const result = await ask()
    const [known] = await store.conversations()
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(known?.id)
  })
})

const ran: string[] = []
afterEach(() => void ran.splice(0))

const pay = plain('pay', () => void ran.push('paid'), { effect: 'write', approval: true })
const YES = { action: 'accept', content: { approve: true } }

describe('an approval inside an agent', () => {
  const script: Script = [[{ call: 'pay' }], [{ text: 'Done.' }]]

  it('is not given on a server that takes no approvals any more', async () => {
    const store = memoryStore()
    const before = await serving(script, { tools: [pay] }, { store, approvals: 'client' })
    const question = await asked(before.client, 'agent', { message: 'Go.' })
    const server = mcpServer({ tools: [], agents: { agent: before.runner }, store })
    const after = await clientOf(server)
    open.push(server, after)
    const result = await answered(after, 'agent', question, YES, { message: 'Go.' })
    expect(result.structuredContent).toMatchObject({ answer: 'Done.' })
    expect([ran, await before.store.openGates()]).toEqual([[], []])
  })
})
