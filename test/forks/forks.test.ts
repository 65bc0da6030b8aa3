import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Model } from '../../src/model/model.ts'
import { wireModel } from '../../src/model/wire-model.ts'
import { anthropicMessagesProvider } from '../../src/providers/anthropic/definition.ts'
import { conversationKey } from '../../src/store/conversation-key.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { ENTRY_KINDS } from '../../src/store/rows/entry-text.ts'
import type { Store } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import { requestOf } from '../../src/wire/request-of.ts'
import { recordConversation, recordedTools } from './recorded-conversation.ts'

const folder = mkdtempSync(join(tmpdir(), 'bobbin-forks-'))
afterAll(() => rmSync(folder, { recursive: true }))

const lines = async (store: Store, conversation: string) => {
  const all: string[] = []
  for await (const entry of store.entries(conversation)) all.push(JSON.stringify(entry))
  return all
}

/** Everything that a store has of a conversation and of those inside its calls. */
async function stateOf(store: Store, conversation: string): Promise<unknown> {
  const inside = await store.conversations({ prefix: `${conversation}/` })
  const all = [conversation, ...inside.map(({ id }) => id)]
  return Promise.all(
    all.map(async (id) => [
      await store.conversation(id),
      await lines(store, id),
      await store.openGates(id),
    ]),
  )
}

/** What every provider would refuse in what the fork sends next. */
async function faultsOf(store: Store, conversation: string, way: 'run' | 'recover') {
  const model = scriptedModel([[{ text: 'Continued.' }]])
  const runner = new TurnRunner({ store, tools: recordedTools(), model })
  const outcome = await (way === 'run'
    ? runner.run({ conversation, message: 'Continue.' })
    : runner.recover({ conversation }))
  const items = model.requests[0]?.items ?? []
  const faults = providers.flatMap((definition) => {
    const codec = wire(definition)
    return codec.validate(codec.encode(items)).map(({ message }) => `${definition.api}: ${message}`)
  })
  return { faults, status: outcome.status, open: outcome.gates.length, requests: model.requests }
}

describe.each([
  ['every position, in memory', 1, () => memoryStore()],
  ['every fifth position, in SQLite', 5, () => sqliteStore(join(folder, 'forks.db'))],
])('a fork at %s', (_, step, open) => {
  it('verifies, is valid for every provider and continues, and the original does not change', async () => {
    const store = open()
    await recordConversation(store, 'c')
    const before = await stateOf(store, 'c')
    const length = (await store.conversation('c'))?.length ?? 0
    const kinds = new Set((await lines(store, 'c')).map((line) => JSON.parse(line).kind as string))
    expect(ENTRY_KINDS.filter((kind) => !kinds.has(kind))).toEqual([])
    const cuts = new Set<number>()
    for (let seq = 0; seq <= length; seq += step) {
      const to = `fork ${seq}`
      const { origin } = await store.fork('c', { to, after: { position: `${seq}.0` } })
      cuts.add(origin?.length ?? -1)
      expect(origin?.length).toBeLessThanOrEqual(seq)
      expect(await store.verify({ conversation: to })).toMatchObject({ ok: true, faults: [] })
      expect(await store.openGates(to)).toEqual([])
      const next = await faultsOf(store, to, 'run')
      expect({ to, ...next }).toMatchObject({ to, faults: [], status: 'completed', open: 0 })
      expect(await store.verify({ conversation: to })).toMatchObject({ ok: true, faults: [] })
    }
    // Not only the beginning, and not every position: some lie inside calls.
    expect(cuts.size).toBeGreaterThan(20 / step)
    expect(cuts.size).toBeLessThan(length / step)
    expect(await stateOf(store, 'c')).toEqual(before)
    await store.close()
  }, 30_000)
})

/** A model of Claude's protocol that calls a tool once a turn. Its client keeps every body that it is given. */
function claude(bodies: object[]): Model {
  const send = async (body: { readonly messages: readonly { content: unknown }[] }) => {
    bodies.push(body)
    const isAnswered = JSON.stringify(body.messages.at(-1)).includes('tool_result')
    const block = isAnswered
      ? { type: 'text', text: 'Done.' }
      : { type: 'tool_use', id: `toolu_${bodies.length}`, name: 'read', input: {} }
    const stop_reason = isAnswered ? 'end_turn' : 'tool_use'
    const usage = { input_tokens: 10, output_tokens: 2 }
    const whole = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }
    return { payload: { ...whole, content: [block], stop_reason, stop_sequence: null, usage } }
  }
  const params = { max_tokens: 99 }
  const given = { model: 'claude', params, stream: false, send: send as never }
  return wireModel(anthropicMessagesProvider, given)
}

const read = new Tool({
  name: 'read',
  description: 'Reads a page.',
  inputSchema: z.object({}),
  effect: 'read',
  handler: () => 'A page of a stranger.',
})

describe.each([
  ['of the store', undefined],
  ['of the application', new Uint8Array(32).fill(7)],
])('a fork under a key %s', (_, conversationSecret) => {
  const key =
    conversationSecret &&
    ((conversation: string) => conversationKey(conversationSecret, conversation))

  it('sends the same bytes as the original, and every request of it is proven', async () => {
    const store = memoryStore()
    const bodies: object[] = []
    const secret = conversationSecret && { conversationSecret }
    const runner = new TurnRunner({ store, tools: [read], model: claude(bodies), ...secret })
    await runner.run({ conversation: 'c', message: 'Read.' })
    await store.fork('c', { to: 'f', ...(key && { key }) })
    await store.fork('f', { to: 'g', ...(key && { key }) })
    await runner.run({ conversation: 'c', message: 'Again.' })
    const [, , original] = bodies
    for (const conversation of ['f', 'g']) {
      const from = bodies.length
      await runner.run({ conversation, message: 'Again.' })
      expect(bodies[from]).toEqual(original)
      const { entries } = await store.find({ conversation, kind: 'model-call' })
      expect(entries).toHaveLength(4)
      for (const { entry } of entries) {
        const modelCall = (entry.data as { readonly id: string }).id
        const query = { conversation, modelCall, ...(key && { key: key(conversation) }) }
        expect(await requestOf(store, query)).toMatchObject({ proven: true, missing: [] })
      }
      const given = key && { key: key(conversation) }
      expect(await store.verify({ conversation, ...given })).toMatchObject({ ok: true })
    }
  })
})

describe('the taint of a fork', () => {
  it('is that of what it contains', async () => {
    const store = memoryStore()
    const model = scriptedModel([
      [{ text: 'Hello.' }],
      [{ call: 'read', args: {}, id: 'a' }],
      [{ text: 'Read.' }],
    ])
    const runner = new TurnRunner({ store, tools: [read], model })
    const first = await runner.run({ conversation: 'c', message: 'Hello.' })
    await runner.run({ conversation: 'c', message: 'Read.' })
    await store.fork('c', { to: 'clean', after: { turnId: first.turnId } })
    await store.fork('c', { to: 'tainted' })
    const write = new Tool({
      name: 'write',
      description: 'Writes.',
      inputSchema: z.object({}),
      effect: 'write',
      handler: () => 'written',
    })
    const statuses = []
    for (const conversation of ['clean', 'tainted']) {
      const writing = scriptedModel([[{ call: 'write', args: {}, id: 'w' }], [{ text: 'Ok.' }]])
      const next = new TurnRunner({ store, tools: [read, write], model: writing })
      statuses.push((await next.run({ conversation, message: 'Write.' })).status)
    }
    expect(statuses).toEqual(['completed', 'suspended'])
  })
})

describe('a standing approval', () => {
  it('stays with the original: in a fork a person is asked again', async () => {
    const store = memoryStore()
    await recordConversation(store, 'c')
    await store.fork('c', { to: 'f' })
    const statuses = []
    for (const conversation of ['c', 'f']) {
      const model = scriptedModel([[{ call: 'send', args: { n: 3 }, id: 'z' }], [{ text: 'Ok.' }]])
      const runner = new TurnRunner({ store, tools: recordedTools(), model })
      statuses.push((await runner.run({ conversation, message: 'Send.' })).status)
    }
    expect(statuses).toEqual(['completed', 'suspended'])
  })
})

describe('a new conversation with the name of a deleted one', () => {
  it('does not take over the conversations inside calls that a fork kept', async () => {
    const store = memoryStore()
    await recordConversation(store, 'c')
    await store.fork('c', { to: 'f' })
    await store.delete('c')
    expect(await store.conversation('c/c')).toBeDefined()
    const model = scriptedModel([
      [{ call: 'clerk', args: { task: 'look' }, id: 'c' }],
      [{ text: 'Ok.' }],
    ])
    const runner = new TurnRunner({ store, tools: recordedTools(), model })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'Look.' })
    expect(toolCalls).toMatchObject([{ tool: 'clerk', settlement: 'failed' }])
    await store.delete('c')
    expect(await store.conversation('c/c')).toBeDefined()
    await store.delete('f')
    expect(await store.conversations()).toEqual([])
  })
})

describe('a fork in the middle of a turn', () => {
  it('is taken up by `recover`, which asks the model again', async () => {
    const store = memoryStore()
    await recordConversation(store, 'c')
    const { entries } = await store.find({ conversation: 'c', kind: 'settlement', limit: 2 })
    const position = `${entries[1]?.entry.seq}.0`
    const { id } = await store.fork('c', { after: { position } })
    const { faults, status, requests } = await faultsOf(store, id, 'recover')
    expect({ faults, status }).toEqual({ faults: [], status: 'completed' })
    expect(requests[0]?.items.map(({ type }) => type)).toEqual([
      ...['message', 'thought', 'message', 'call', 'call'],
    ])
  })
})
