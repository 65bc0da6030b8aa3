import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createMcpHandler,
  inputRequired,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { serverWith, toolNamed, type WireServer } from '../../../test/mcp/wire-server.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpTools } from './mcp-tools.ts'

const FORM = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}

type Answer = (params: { readonly arguments?: unknown }, ctx: ServerContext) => object

/** A server of protocol 2026-07-28 with one tool, reached without a socket. */
function modern(answer: Answer) {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'forms', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'book', inputSchema: { type: 'object' as const } }],
    }))
    server.setRequestHandler('tools/call', ({ params }, ctx) => answer(params, ctx) as never)
    return server
  })
  const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init))
  return async () => {
    const client = new Client(
      { name: 'test', version: '1' },
      {
        versionNegotiation: { mode: 'auto' },
        capabilities: { elicitation: { form: {}, url: {} } },
      },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL('http://here/mcp'), { fetch }))
    return client
  }
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

describe('a question of a server, protocol 2026-07-28', () => {
  it('is a gate that a new process answers, and the server gets its state back unchanged', async () => {
    const seen: unknown[] = []
    const open = modern((_, ctx) => {
      const state: unknown = ctx.mcpReq.requestState()
      seen.push([state, ctx.mcpReq.inputResponses])
      if (state === undefined) {
        return inputRequired({
          inputRequests: {
            where: inputRequired.elicit({ message: 'Which city?', requestedSchema: FORM }),
          },
          requestState: 'opaque \u00fc {"a":1}',
        })
      }
      return text('booked')
    })
    const store = memoryStore()
    const first = await mcpTools(open)
    const asking = new TurnRunner({
      model: scriptedModel([[{ call: 'book' }]]),
      tools: first,
      store,
    })
    const waiting = await asking.run({ message: 'Go.' })
    await first.close()
    const [gate] = waiting.gates
    expect(waiting.status).toBe('suspended')
    expect(gate).toMatchObject({
      kind: 'input',
      message: 'MCP server `forms` asks: Which city?',
      schema: FORM,
    })

    const tools = await mcpTools(open)
    const model = scriptedModel([[{ text: 'Done.' }]])
    const outcome = await new TurnRunner({ model, tools, store }).resume({
      conversation: waiting.conversation,
      decisions: [{ gate: gate?.id ?? '', decidedBy: 'ada', value: { city: 'Oslo' } }],
    })
    await tools.close()
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(['ok'])
    expect(seen).toEqual([
      [undefined, undefined],
      ['opaque \u00fc {"a":1}', { where: { action: 'accept', content: { city: 'Oslo' } } }],
    ])
  })

  it('asks several questions one after the other, and sends the answers together', async () => {
    let calls = 0
    const open = modern((_, ctx) => {
      calls += 1
      const { inputResponses } = ctx.mcpReq
      if (inputResponses !== undefined) return text(Object.keys(inputResponses).join())
      return inputRequired({
        inputRequests: {
          form: inputRequired.elicit({ message: 'Which city?', requestedSchema: FORM }),
          page: inputRequired.elicitUrl({
            message: 'Sign in.',
            url: 'https://example.com/in',
          }),
        },
      })
    })
    const tools = await mcpTools(open)
    const model = scriptedModel([[{ call: 'book' }], [{ text: 'Done.' }]])
    const runner = new TurnRunner({ model, tools })
    const first = await runner.run({ message: 'Go.' })
    const { conversation } = first
    const answer = (value: object, outcome: typeof first) =>
      runner.resume({
        conversation,
        decisions: [{ gate: outcome.gates[0]?.id ?? '', decidedBy: 'ada', ...value } as never],
      })
    const second = await answer({ value: { city: 'Oslo' } }, first)
    expect(second.gates[0]).toMatchObject({ kind: 'link', url: 'https://example.com/in' })
    const outcome = await answer({ done: true }, second)
    expect([calls, outcome.toolCalls[0]?.settlement]).toEqual([2, 'ok'])
    await tools.close()
  })

  it('ends the call when a person declines, and the server hears nothing', async () => {
    let calls = 0
    const open = modern(() => {
      calls += 1
      return inputRequired({
        inputRequests: { q: inputRequired.elicit({ message: 'Sure?', requestedSchema: FORM }) },
      })
    })
    const tools = await mcpTools(open)
    const model = scriptedModel([[{ call: 'book' }], [{ text: 'Done.' }]])
    const runner = new TurnRunner({ model, tools })
    const { conversation, gates } = await runner.run({ message: 'Go.' })
    const decisions = [{ gate: gates[0]?.id ?? '', decidedBy: 'ada', approve: false }]
    const outcome = await runner.resume({ conversation, decisions })
    expect([calls, outcome.toolCalls[0]?.settlement]).toEqual([1, 'denied'])
    await tools.close()
  })
})

describe('a question of a server, older protocols', () => {
  /** Asks while the call is open, and answers with what came back. */
  const asking = (): WireServer =>
    serverWith([toolNamed('book')], async (_, connection) => {
      const params = { mode: 'form', message: 'Which city?', requestedSchema: FORM }
      const answered = new Promise<unknown>((resolve) => answers.push(resolve))
      connection.send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params })
      return text(JSON.stringify(await answered))
    })
  const answers: ((answer: unknown) => void)[] = []

  async function ask(server: WireServer) {
    const tools = await mcpTools(server.open)
    const store = memoryStore()
    const model = scriptedModel([[{ call: 'book' }], [{ text: 'Done.' }]])
    const runner = new TurnRunner({ model, tools, store })
    const { conversation, gates } = await runner.run({ message: 'Go.' })
    const decisions = [{ gate: gates[0]?.id ?? '', decidedBy: 'ada', value: { city: 'Oslo' } }]
    return { tools, store, runner, resume: { conversation, decisions } }
  }

  it('is a gate while the session lasts', async () => {
    const server = asking()
    const { runner, resume, tools } = await ask(server)
    const going = runner.resume(resume)
    await expect
      .poll(() => server.received.find(({ id }) => id === 'q')?.result)
      .toEqual({
        action: 'accept',
        content: { city: 'Oslo' },
      })
    answers.pop()?.('Oslo')
    const outcome = await going
    expect(outcome.toolCalls[0]?.settlement).toBe('ok')
    expect(server.count('tools/call')).toBe(1)
    await tools.close()
  })

  it('tells the server when a person declines, and the server ends the call', async () => {
    const server = asking()
    const { runner, resume, tools } = await ask(server)
    const declined = resume.decisions.map(({ gate }) => ({ gate, decidedBy: 'ada' }))
    const decisions = declined.map((each) => ({ ...each, approve: false as const }))
    const going = runner.resume({ ...resume, decisions })
    await expect
      .poll(() => server.received.find(({ id }) => id === 'q')?.result)
      .toEqual({ action: 'decline' })
    answers.pop()?.('Nothing was booked.')
    const [call] = (await going).toolCalls
    expect(call?.settlement).toBe('ok')
    const said = call?.results as SpooledArtifact | undefined
    expect(await said?.asString()).toBe('"Nothing was booked."')
    await tools.close()
  })

  it('leaves a declined call in doubt when the session is gone', async () => {
    const server = asking()
    const { store, resume, tools } = await ask(server)
    await tools.close()
    const again = await mcpTools(server.open)
    const runner = new TurnRunner({
      model: scriptedModel([[{ text: 'Done.' }]]),
      tools: again,
      store,
    })
    const decisions = resume.decisions.map(({ gate }) => {
      return { gate, decidedBy: 'ada', approve: false as const }
    })
    const outcome = await runner.resume({ ...resume, decisions })
    expect(outcome.toolCalls[0]?.settlement).toBe('in-doubt')
    await again.close()
  })

  it('is cancelled while another call waits for a person: it may come from that one', async () => {
    const server = asking()
    const { tools } = await ask(server)
    const model = scriptedModel([[{ call: 'book' }], [{ text: 'Done.' }]])
    const other = new TurnRunner({ model, tools }).run({ message: 'Go.' })
    await expect
      .poll(() => server.received.filter(({ id }) => id === 'q').map(({ result }) => result))
      .toEqual([{ action: 'cancel' }])
    answers.pop()?.('cancelled')
    expect((await other).gates).toEqual([])
    await tools.close()
  })

  it('leaves the call in doubt when the session is gone', async () => {
    const server = asking()
    const { store, resume, tools } = await ask(server)
    await tools.close()
    const again = await mcpTools(server.open)
    const model = scriptedModel([[{ text: 'Done.' }]])
    const outcome = await new TurnRunner({ model, tools: again, store }).resume(resume)
    expect(outcome.toolCalls[0]?.settlement).toBe('in-doubt')
    expect(server.count('tools/call')).toBe(1)
    await again.close()
  })
})
