import { describe, expect, it } from 'vitest'
import { memoryStore } from '../store/memory/memory-store.ts'
import { redactKeys } from '../store/rows/redact-keys.ts'
import { type ScriptedPart, scriptedModel } from '../testing/scripted-model.ts'
import { Tool } from '../tools/tool.ts'
import { subAgent } from './nested/sub-agent.ts'
import { TurnRunner } from './turn-runner.ts'

const ANY = { type: 'object' } as const
const ana = { user: 'ana', tenant: 7 }
const callOf = (call: string): readonly ScriptedPart[] => [{ call, args: {} }]
const said: readonly ScriptedPart[] = [{ text: 'done' }]

describe('context', () => {
  it('reaches handlers, policies and middleware, and no prompt', async () => {
    const seen: unknown[] = []
    const note = (place: string, context: unknown) => seen.push([place, context])
    const look = new Tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: ANY,
      effect: 'read',
      approval: (_, { context }) => note('approval', context) === 0,
      inline: (_, { context }) => note('inline', context) > 0,
      handler: (_, { context }) => String(note('handler', context)),
    })
    const model = scriptedModel([callOf('look'), said])
    const runner = new TurnRunner({
      model,
      tools: [look],
      middleware: [
        {
          call: ({ ctx }, next) => {
            note('middleware', ctx.context)
            return next()
          },
        },
      ],
    })
    await runner.run({ message: 'go', context: ana })
    expect(seen).toEqual(['approval', 'middleware', 'handler', 'inline'].map((at) => [at, ana]))
    expect(JSON.stringify(model.requests)).not.toContain('ana')
  })

  it('is the same after a restart, in each continuation, and gone in the next turn', async () => {
    const store = memoryStore()
    const seen: unknown[] = []
    const pay = new Tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: ANY,
      effect: 'write',
      approval: true,
      handler: (_, { context }) => String(seen.push(context)),
    })
    const runner = (steps: Parameters<typeof scriptedModel>[0]) =>
      new TurnRunner({ model: scriptedModel(steps), tools: [pay], store })
    const conversation = 'a'
    const first = await runner([callOf('pay')]).run({ conversation, message: 'go', context: ana })
    const approved = first.gates.map(({ id: gate }) => ({ gate, approve: true, decidedBy: 'me' }))
    await runner([said]).resume({ conversation, decisions: approved })
    const second = await runner([callOf('pay')]).run({ conversation, message: 'go' })
    const again = second.gates.map(({ id: gate }) => ({ gate, approve: true, decidedBy: 'me' }))
    await runner([said]).resume({ conversation, decisions: again })
    expect(seen).toEqual([ana, undefined])
  })

  it('reaches the turns inside a call', async () => {
    const seen: unknown[] = []
    const inside = new Tool({
      name: 'inside',
      description: 'Looks.',
      inputSchema: ANY,
      effect: 'read',
      handler: (_, { context }) => String(seen.push(context)),
    })
    const agent = {
      model: scriptedModel([callOf('inside'), said]),
      tools: [inside],
      instructions: ({ context }: { readonly context: unknown }) => {
        seen.push(context)
        return 'Work.'
      },
    }
    const help = subAgent({ name: 'help', description: 'Helps.', agent })
    const model = scriptedModel([[{ call: 'help', args: { task: 'x' } }], said])
    await new TurnRunner({ model, tools: [help] }).run({ message: 'go', context: ana })
    expect(seen).toEqual([ana, ana])
  })

  it('is stored without what is redacted, and does not travel', async () => {
    const store = memoryStore({ redact: redactKeys(/tenant/) })
    const runner = new TurnRunner({ model: scriptedModel([said]), store })
    await runner.run({ conversation: 'a', message: 'go', context: ana })
    const start = await store.find({ kind: 'turn-start' })
    expect(start.entries[0]?.entry.data).toMatchObject({
      input: 'run',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      context: { user: 'ana', tenant: '[redacted]' },
    })
    const lines: string[] = []
    for await (const line of store.export('a')) lines.push(line)
    expect(lines.join('')).not.toContain('ana')
    const forged = lines.map((line) =>
      line.replace('"input":"run"', '"input":"run","context":{"user":"root"}'),
    )
    expect(forged.join('')).toContain('root')
    await store.import(forged, { conversation: 'b' })
    const copies = await store.find({ conversation: 'b', kind: 'turn-start' })
    expect(copies.entries[0]?.entry.data).toMatchObject({ input: 'run' })
    expect(copies.entries[0]?.entry.data).not.toHaveProperty('context')
  })

  it.each([
    ['a date', new Date(0), 'not a plain object'],
    ['a function', () => 1, 'no JSON form'],
    ['more than 64 KB', 'é'.repeat(33_000), 'at most 65536 bytes'],
  ])('refuses %s', async (_, context, message) => {
    const runner = new TurnRunner({ model: scriptedModel([said]) })
    const running = runner.run({ message: 'go', context })
    await expect(running).rejects.toMatchObject({
      code: 'E_INVALID_TURN_INPUT',
      message: expect.stringContaining(message),
    })
  })
})

describe('instructions and tools as functions', () => {
  it('are asked once for each turn and each continuation', async () => {
    const asked: unknown[] = []
    const pay = new Tool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: ANY,
      effect: 'write',
      approval: true,
      handler: () => 'paid',
    })
    const model = scriptedModel([callOf('pay'), callOf('nothing'), said])
    const runner = new TurnRunner({
      model,
      instructions: async (ctx) => {
        asked.push(ctx)
        return `Serve turn ${asked.length}.`
      },
      tools: async ({ context }) => ((context as typeof ana).user === 'ana' ? [pay] : []),
    })
    const run = runner.run({ conversation: 'a', message: 'go', context: ana })
    const { gates } = await run
    const decisions = gates.map(({ id: gate }) => ({ gate, approve: true, decidedBy: 'me' }))
    const resume = runner.resume({ conversation: 'a', decisions })
    const { toolCalls } = await resume
    const place = { context: ana, conversation: 'a' }
    expect(asked).toEqual([
      { ...place, turnId: run.turnId },
      { ...place, turnId: resume.turnId },
    ])
    expect(toolCalls.map(({ tool, settlement }) => [tool, settlement])).toEqual([
      ['pay', 'ok'],
      ['nothing', 'refused'],
    ])
    expect(model.requests.map(({ instructions }) => instructions)).toEqual([
      expect.stringContaining('turn 1'),
      expect.stringContaining('turn 2'),
      expect.stringContaining('turn 2'),
    ])
  })

  it.each([
    ['throws', { instructions: () => Promise.reject(new Error('no user')) }, 'no user'],
    ['gives no text', { instructions: () => 7 as never }, 'no string'],
    ['gives no tools', { tools: () => [7] as never }, 'must be a Tool'],
  ])('fail the turn when one %s', async (_, options, message) => {
    const model = scriptedModel([said])
    const outcome = await new TurnRunner({ model, ...options }).run({ message: 'go' })
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: { code: 'EXECUTOR_FAILED', message: expect.stringContaining(message) },
    })
    expect(model.requests).toEqual([])
  })

  it('do not hold up an abort', async () => {
    const abort = new AbortController()
    const runner = new TurnRunner({
      model: scriptedModel([said]),
      instructions: () => {
        setTimeout(() => abort.abort(), 1)
        return new Promise<string>(() => {})
      },
    })
    const { status } = await runner.run({ message: 'go', signal: abort.signal })
    expect(status).toBe('aborted')
  })
})
