import { afterEach, describe, expect, it, vi } from 'vitest'
import { answered, asked, clientOf, plain, textOf } from '../../../test/mcp/serving.ts'
import { byHand } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { inputRequired, linkRequired, type PersonRequest } from '../../tools/person-request.ts'
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
    const question = await asked(before.client, 'agent', MESSAGE)
    const server = mcpServer({ tools: [], agents: { agent: before.runner }, store })
    const after = await clientOf(server)
    open.push(server, after)
    const result = await answered(after, 'agent', question, YES, MESSAGE)
    expect(result.structuredContent).toMatchObject({ answer: 'Done.' })
    expect([ran, await before.store.openGates()]).toEqual([[], []])
  })

  it('is declined where the server takes none, and the agent continues', async () => {
    const { ask, store } = await serving(script, { tools: [pay] })
    expect((await ask()).structuredContent).toMatchObject({ answer: 'Done.' })
    expect([ran, await store.openGates()]).toEqual([[], []])
  })

  it('shows the call, and counts in the name of the server', async () => {
    const options = { approvals: 'client', decidedBy: 'desk' } as const
    const { client, store } = await serving(script, { tools: [pay] }, options)
    const question = await asked(client, 'agent', MESSAGE)
    expect(question.request.params['message']).toContain('The call: `pay` with {}')
    await answered(client, 'agent', question, YES, MESSAGE)
    const { entries } = await store.find({ kind: 'settlement' })
    expect(ran).toEqual(['paid'])
    expect(entries.map(({ entry }) => entry.data)).toMatchObject([
      { approvedBy: { decidedBy: 'desk' } },
    ])
  })

  it.each(['decline', 'cancel'])('is denied inside by `%s`', async (action) => {
    const { client, store } = await serving(script, { tools: [pay] }, { approvals: 'client' })
    const question = await asked(client, 'agent', MESSAGE)
    const result = await answered(client, 'agent', question, { action }, MESSAGE)
    expect(result.structuredContent).toMatchObject({ answer: 'Done.' })
    expect([ran, await store.openGates()]).toEqual([[], []])
  })

  it('is not asked of a client that would not see all of it', async () => {
    const args = { note: 'x'.repeat(4_000) }
    const { ask, store } = await serving(
      [[{ call: 'pay', args }]],
      { tools: [pay] },
      { approvals: 'client' },
    )
    const result = await ask()
    const [gate] = await store.openGates()
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(`gate \`${gate?.id}\``)
  })
})

const MESSAGE = { message: 'Go.' }

describe('a question inside an agent', () => {
  const given: unknown[] = []
  afterEach(() => void given.splice(0))

  const asks = (question: PersonRequest) =>
    plain('asks', (_, { input }) =>
      input === undefined ? question : given.push(input.value ?? input.done),
    )
  const form = (properties: object) =>
    inputRequired({ message: 'Where?', schema: { type: 'object', properties } })
  const city = asks(form({ city: { type: 'string' } }))
  const link = asks(linkRequired({ message: 'Sign in.', url: 'https://example.com/' }))
  const script: Script = [[{ call: 'asks' }], [{ text: 'Done.' }]]

  it.each([
    ['form', city, { content: { city: 'Oslo' } }, { city: 'Oslo' }],
    ['link', link, {}, true],
  ] as const)('is answered by the client: %s', async (_, tool, answer, expected) => {
    const { client } = await serving(script, { tools: [tool] })
    const question = await asked(client, 'agent', MESSAGE)
    const accept = { action: 'accept', ...answer }
    const result = await answered(client, 'agent', question, accept, MESSAGE)
    expect(result.structuredContent).toMatchObject({ answer: 'Done.' })
    expect(given).toEqual([expected])
  })

  it.each([
    ['form', 'decline', city],
    ['form', 'cancel', city],
    ['link', 'decline', link],
  ] as const)('is declined inside too: %s, %s', async (_, action, tool) => {
    const { client, store } = await serving(script, { tools: [tool] })
    const question = await asked(client, 'agent', MESSAGE)
    const result = await answered(client, 'agent', question, { action }, MESSAGE)
    expect(result.structuredContent).toMatchObject({ answer: 'Done.' })
    expect([given, await store.openGates()]).toEqual([[], []])
  })

  it('is declined inside if the client cannot answer', async () => {
    const { ask, store } = await serving(script, { tools: [city] }, {}, { capabilities: {} })
    expect((await ask()).structuredContent).toMatchObject({ answer: 'Done.' })
    expect(await store.openGates()).toEqual([])
  })

  it('is declined inside if its form has more than one level', async () => {
    const nested = asks(form({ place: { type: 'object' } }))
    const { ask, store } = await serving(script, { tools: [nested] })
    expect((await ask()).structuredContent).toMatchObject({ answer: 'Done.' })
    expect(await store.openGates()).toEqual([])
  })

  it('is declined inside even if the agent then fails', async () => {
    const { client, store } = await serving(script, { tools: [city], limits: { iterations: 1 } })
    const question = await asked(client, 'agent', MESSAGE)
    const result = await answered(client, 'agent', question, { action: 'decline' }, MESSAGE)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('mcp-agent-')
    expect(await store.openGates()).toEqual([])
  })
})

describe('a call of an agent that is cancelled', () => {
  it('ends the turn of the agent', async () => {
    const begun = byHand()
    const hang = plain(
      'hang',
      (_, { signal }) => {
        begun.resolve()
        return new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
      },
      { effect: 'write' },
    )
    const { ask, store } = await serving([[{ call: 'hang' }]], { tools: [hang] })
    const abort = new AbortController()
    const call = ask({}, { signal: abort.signal })
    await begun.promise
    abort.abort()
    await expect(call).rejects.toThrow('Abort')
    const ends = async () =>
      (await store.find({ kind: 'turn-end' })).entries.map(({ entry }) =>
        Reflect.get(entry.data, 'status'),
      )
    await expect.poll(ends).toEqual(['aborted'])
  })
})

describe('the conversation of an agent', () => {
  it.each([`mcp-agent-${'-'.repeat(36)}`, `mcp-agent-${crypto.randomUUID()}`, 'own', ''])(
    'is not begun by a client that makes up an id: %s',
    async (conversation) => {
      const { ask, store } = await serving([[{ text: 'Hello.' }]])
      const result = await ask({ conversation })
      expect(textOf(result)).toContain('There is no such conversation.')
      expect(await store.conversations()).toEqual([])
    },
  )

  it('may be busy, and the client tries again later', async () => {
    const { ask, store } = await serving([[{ text: 'One.' }], [{ text: 'Two.' }]])
    const { structuredContent } = await ask()
    const { conversation = '' } = structuredContent as Record<string, string>
    const { epoch } = await store.acquire(conversation, { owner: 'another' })
    const busy = await ask({ conversation })
    expect(textOf(busy)).toContain('This conversation is busy. Try again later.')
    expect(textOf(busy)).not.toContain('force')
    await store.release(conversation, epoch)
    expect((await ask({ conversation })).structuredContent).toMatchObject({ answer: 'Two.' })
  })
})
