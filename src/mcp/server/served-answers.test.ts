import { afterEach, describe, expect, it } from 'vitest'
import { answered, asked, clientOf, plain, textOf } from '../../../test/mcp/serving.ts'
import { byHand } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { inputRequired, linkRequired } from '../../tools/person-request.ts'
import { Tool } from '../../tools/tool.ts'
import { type McpServerOptions, mcpServer } from './mcp-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const YES = { action: 'accept', content: { approve: true } }

async function served(
  options: McpServerOptions,
  clientOptions: Parameters<typeof clientOf>[1] = {},
) {
  const server = mcpServer(options)
  const client = await clientOf(server, clientOptions)
  open.push(server, client)
  return client
}

const deleting = (ran: string[], more: object = {}) =>
  plain('delete', () => void ran.push('ran'), { effect: 'write', approval: true, ...more })

describe('an answer to an approval', () => {
  it('does not count on a server that takes no approvals any more', async () => {
    const ran: string[] = []
    const store = memoryStore()
    const tools = [deleting(ran)]
    const before = await served({ tools, store, approvals: 'client' })
    const question = await asked(before, 'delete')
    const after = await served({ tools, store })
    expect(await answered(after, 'delete', question, YES)).toMatchObject({ isError: true })
    expect([ran, await store.openGates()]).toEqual([[], []])
  })

  it('is stored in the name of the server', async () => {
    const store = memoryStore()
    const tools = [deleting([])]
    const client = await served({ tools, store, approvals: 'client', decidedBy: 'desk' })
    const question = await asked(client, 'delete')
    await answered(client, 'delete', question, YES)
    const { entries } = await store.find({ kind: 'settlement' })
    expect(entries.map(({ entry }) => entry.data)).toMatchObject([
      { approvedBy: { gate: question.gate, decidedBy: 'desk' } },
    ])
  })
})

describe('the text of an approval', () => {
  it('has the call with all that is hidden in it', async () => {
    const client = await served({ tools: [deleting([])], approvals: 'client' })
    const { request } = await asked(client, 'delete', { path: 'a\u202etxt.exe' })
    const text = 'The call: `delete` with {"path":"a\\u{202E}txt.exe"}'
    expect(request.params['message']).toMatch(/^This call waits because its tool asks/)
    expect(request.params['message']).toContain(text)
  })

  it('is not shown in part: a person decides at the store', async () => {
    const store = memoryStore()
    const client = await served({ tools: [deleting([])], store, approvals: 'client' })
    const whole = await asked(client, 'delete', { path: 'x'.repeat(3_980) })
    expect(String(whole.request.params['message'])).toContain('x"}')
    const args = { path: 'x'.repeat(4_000) }
    const result = await client.callTool({ name: 'delete', arguments: args })
    const gates = await store.openGates()
    const { id = '' } = gates.find((gate) => gate.id !== whole.gate) ?? {}
    expect([result.isError, gates.length]).toEqual([true, 2])
    expect(textOf(result)).toContain(`A person can decide at the store: gate \`${id}\``)
  })
})

describe('a form', () => {
  const form = (schema: object) =>
    plain('form', (_, { input }) =>
      input === undefined
        ? inputRequired({ message: 'How many?', schema: { type: 'object', ...schema } })
        : `got ${JSON.stringify(input.value)}`,
    )
  const count = form({ properties: { n: { type: 'integer' } }, required: ['n'] })

  it('takes a wrong value as a wrong request, and is answered after that', async () => {
    const client = await served({ tools: [count] })
    const question = await asked(client, 'form')
    const answer = (n: unknown) =>
      answered(client, 'form', question, { action: 'accept', content: { n } })
    await expect(answer('many')).rejects.toMatchObject({ code: -32_602 })
    expect(textOf(await answer(3))).toBe('got {"n":3}')
  })

  it('of more than one level is not sent, and the client reads why', async () => {
    const store = memoryStore()
    const nested = form({ properties: { place: { type: 'object' } } })
    const client = await served({ tools: [nested], store })
    const result = await client.callTool({ name: 'form' })
    expect(textOf(result)).toContain('a form of more than one level')
    expect([result.isError, await store.openGates()]).toEqual([true, []])
  })

  it('that is declined ends its call', async () => {
    const client = await served({ tools: [count] })
    const result = await answered(client, 'form', await asked(client, 'form'), { action: 'cancel' })
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toContain('declined')
  })

  it('may be followed by another one, which is asked again if it was lost', async () => {
    const twice = plain('twice', (_, { input }) => {
      const step = Number(input?.state ?? 0)
      const schema = { type: 'object' } as const
      return step < 2 ? inputRequired({ message: `${step}`, schema, state: step + 1 }) : 'done'
    })
    const client = await served({ tools: [twice] })
    const first = await asked(client, 'twice')
    const accept = { action: 'accept', content: {} }
    const [lost, again] = [
      await answered(client, 'twice', first, accept),
      await answered(client, 'twice', first, accept),
    ]
    expect(again).toMatchObject({ inputRequests: (lost as object as Question).inputRequests })
  })
})

interface Question {
  readonly inputRequests: object
}

describe('a link', () => {
  it('reaches the client with its page, and the call continues after it', async () => {
    const link = plain('link', (_, { input }) =>
      input === undefined
        ? linkRequired({ message: 'Sign in.', url: 'https://example.com/sign-in' })
        : `done: ${input.done}`,
    )
    const client = await served({ tools: [link] })
    const question = await asked(client, 'link')
    expect(question.request.params).toMatchObject({
      mode: 'url',
      message: 'Sign in.',
      url: 'https://example.com/sign-in',
    })
    const result = await answered(client, 'link', question, { action: 'accept' })
    expect(textOf(result)).toBe('done: true')
  })
})

describe('an external tool', () => {
  it('is not run, and the client reads why', async () => {
    const tool = new Tool({
      name: 'far',
      description: 'Runs elsewhere.',
      inputSchema: { type: 'object' },
      external: true,
    })
    const result = await (await served({ tools: [tool] })).callTool({ name: 'far' })
    expect(textOf(result)).toContain('needs a result')
  })
})

describe('an answer that comes again', () => {
  it('gets the stored result', async () => {
    const ran: string[] = []
    const client = await served({ tools: [deleting(ran)], approvals: 'client' })
    const question = await asked(client, 'delete')
    const first = await answered(client, 'delete', question, YES)
    const again = await answered(client, 'delete', question, YES)
    expect(again.content).toEqual(first.content)
    expect([again.isError, ran]).toEqual([undefined, ['ran']])
  })

  it('counts once, whichever server on the store it reaches', async () => {
    const ran: string[] = []
    const options = { tools: [deleting(ran)], store: memoryStore(), approvals: 'client' } as const
    const clients = [await served(options), await served(options), await served(options)] as const
    const question = await asked(clients[0], 'delete')
    const answers = clients.map((client) => answered(client, 'delete', question, YES))
    const results = await Promise.all(answers)
    expect(ran).toEqual(['ran'])
    expect(results.some(({ isError }) => isError !== true)).toBe(true)
    expect(textOf(await answered(clients[1], 'delete', question, YES))).not.toContain('doubt')
  })

  it('says that the call still runs', async () => {
    const [begun, end] = [byHand(), byHand()]
    const slow = plain(
      'slow',
      async () => {
        begun.resolve()
        await end.promise
        return 'late'
      },
      { effect: 'write', approval: true },
    )
    const client = await served({ tools: [slow], approvals: 'client' })
    const question = await asked(client, 'slow')
    const first = answered(client, 'slow', question, YES)
    await begun.promise
    expect(textOf(await answered(client, 'slow', question, YES))).toContain('still runs')
    end.resolve()
    expect(textOf(await first)).toBe('late')
  })

  it('says that the call is in doubt if it has no result', async () => {
    const store = memoryStore()
    const client = await served({ tools: [deleting([])], store, approvals: 'client' })
    const question = await asked(client, 'delete')
    const [gate] = await store.openGates()
    // As if a process died right after the answer.
    const { conversation = '', id = '' } = gate ?? {}
    await store.decideGate(conversation, id, { verdict: 'approved', decidedBy: 'desk' })
    const result = await answered(client, 'delete', question, YES)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('in doubt')
  })

  it('stops its call when the client cancels it', async () => {
    const store = memoryStore()
    const begun = byHand()
    const hang = plain(
      'hang',
      (_, { signal }) => {
        begun.resolve()
        return new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
      },
      { effect: 'write', approval: true },
    )
    const client = await served({ tools: [hang], store, approvals: 'client' })
    const { gate, requestState } = await asked(client, 'hang')
    const abort = new AbortController()
    const params = { name: 'hang', requestState, inputResponses: { [gate]: YES } }
    const options = { allowInputRequired: true as const, signal: abort.signal }
    const call = client.callTool(params, options)
    await begun.promise
    abort.abort()
    await expect(call).rejects.toThrow('Abort')
    const settlements = async () =>
      (await store.find({ kind: 'settlement' })).entries.map(({ entry }) =>
        Reflect.get(entry.data, 'settlement'),
      )
    await expect.poll(settlements).toEqual(['in-doubt'])
  })
})
