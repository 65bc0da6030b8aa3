import { describe, expect, it } from 'vitest'
import { serverWith, toolNamed } from '../../../test/mcp/wire-server.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpTools } from './mcp-tools.ts'

const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const done = [{ text: 'Done.' }]

const textOf = async (call: ToolCall | undefined) => {
  const results = call?.results as unknown as { text?: string } & SpooledArtifact
  return results.text ?? results.asString()
}

const answered = (gate: { readonly id: string } | undefined, more: object) => [
  { gate: gate?.id ?? '', decidedBy: 'ada', ...more } as never,
]

describe('a call of a tool of a server', () => {
  it('has a key that every attempt at it shares', async () => {
    let times = 0
    const server = serverWith([toolNamed('t')], (_, connection) => {
      times += 1
      if (times === 1) connection.kill()
      return text('done')
    })
    const tools = await mcpTools(() => server.open(), { effects: { t: 'read' } })
    const model = scriptedModel([[{ call: 't', id: 'c1' }], done])
    await new TurnRunner({ model, tools }).run({ message: 'Go.', conversation: 'talk' })
    const keys = server.received
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => Object(params?.['_meta']) as Record<string, unknown>)
      .map((meta) => meta['bobbin-adk/idempotency-key'])
    expect(keys).toEqual(['talk/c1', 'talk/c1'])
  })

  it('goes to the server whose prefix its name has', async () => {
    const servers = ['one', 'two'].map((name) => serverWith([toolNamed('t')], () => text(name)))
    const tools = await Promise.all(
      servers.map((server, at) => mcpTools(() => server.open(), { prefix: `s${at}_` })),
    )
    const model = scriptedModel([[{ call: 's1_t' }], done])
    const runner = new TurnRunner({ model, tools: () => tools.flatMap((each) => [...each]) })
    const { toolCalls } = await runner.run({ message: 'Go.' })
    expect(await textOf(toolCalls[0])).toBe('two')
    expect(servers.map((server) => server.count('tools/call'))).toEqual([0, 1])
    expect(servers[1]?.received.at(-1)?.params?.['name']).toBe('t')
  })

  it('asks a person to visit the pages that an older server wants first', async () => {
    let isOpen = false
    const server = serverWith([toolNamed('t')], () => {
      if (isOpen) return text('done')
      const page = { mode: 'url', message: 'Sign in.', url: 'https://x.example/in' }
      const data = { elicitations: [{ ...page, elicitationId: 'e' }] }
      throw Object.assign(new Error('Sign in first'), { code: -32_042, data })
    })
    const tools = await mcpTools(() => server.open())
    const runner = new TurnRunner({ model: scriptedModel([[{ call: 't' }], done]), tools })
    const { conversation, gates } = await runner.run({ message: 'Go.' })
    expect(gates[0]).toMatchObject({ kind: 'link', url: 'https://x.example/in' })
    isOpen = true
    const decisions = answered(gates[0], { done: true })
    const outcome = await runner.resume({ conversation, decisions })
    expect(outcome.toolCalls[0]?.settlement).toBe('ok')
    expect(server.count('tools/call')).toBe(2)
  })

  it('is made nine times at most for a server that only wants it again', async () => {
    const again = { resultType: 'input_required', requestState: 'again' }
    const server = serverWith([toolNamed('t')], () => again)
    const tools = await mcpTools(server.openHttp)
    const runner = new TurnRunner({ model: scriptedModel([[{ call: 't' }], done]), tools })
    const { toolCalls } = await runner.run({ message: 'Go.' })
    expect(toolCalls[0]?.settlement).toBe('failed')
    expect(await textOf(toolCalls[0])).toContain('the same call more than 8 times')
    expect(server.count('tools/call')).toBe(9)
  })

  it('visits a page that a dead process asked for', async () => {
    const params = { mode: 'url', message: 'Sign in.', url: 'https://x.example/in' }
    const question = {
      resultType: 'input_required',
      requestState: 'kept',
      inputRequests: { page: { method: 'elicitation/create', params } },
    }
    const server = serverWith([toolNamed('t')], (message) =>
      message.params?.['requestState'] === undefined ? question : text('done'),
    )
    const store = memoryStore()
    const first = await mcpTools(server.openHttp)
    const model = scriptedModel([[{ call: 't' }]])
    const waiting = await new TurnRunner({ model, tools: first, store }).run({ message: 'Go.' })
    await first.close()
    expect(waiting.gates[0]).toMatchObject({ kind: 'link', url: 'https://x.example/in' })
    const tools = await mcpTools(server.openHttp)
    const runner = new TurnRunner({ model: scriptedModel([done]), tools, store })
    const decisions = answered(waiting.gates[0], { done: true })
    const outcome = await runner.resume({ conversation: waiting.conversation, decisions })
    expect(outcome.toolCalls[0]?.settlement).toBe('ok')
    expect(server.received.at(-1)?.params).toMatchObject({
      requestState: 'kept',
      inputResponses: { page: { action: 'accept' } },
    })
  })

  it('needs another approval in a new process that sees another definition', async () => {
    const list = [toolNamed('t')]
    const server = serverWith(list, () => text('ran'))
    const store = memoryStore()
    const first = await mcpTools(() => server.open(), { approval: true })
    const model = scriptedModel([[{ call: 't' }]])
    const waiting = await new TurnRunner({ model, tools: first, store }).run({ message: 'Go.' })
    await first.close()
    list[0] = toolNamed('t', { annotations: { destructiveHint: true } })
    const tools = await mcpTools(() => server.open(), { approval: true })
    const runner = new TurnRunner({ model: scriptedModel([done]), tools, store })
    const decisions = answered(waiting.gates[0], { approve: true })
    const outcome = await runner.resume({ conversation: waiting.conversation, decisions })
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).not.toContain('ok')
    expect(server.count('tools/call')).toBe(0)
  })
})
