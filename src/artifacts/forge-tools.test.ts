import { describe, expect, it } from 'vitest'
import { failureText } from '../../test/ask-artifact.ts'
import { isBobbinError } from '../core/error/error.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { ArtifactTool } from '../tools/artifact-tool.ts'
import type { ForgeContext, ForgeOptions } from './forge-tools.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

const spool = memorySpool()
const text = async (content: string) => new SpooledArtifact(await spool.write(content))

class Shouting extends SpooledArtifact {
  static override readonly kind: string = 'shouting'
  static override readonly queries = [
    SpooledArtifact.query({
      name: 'shout',
      description: 'Shows the start in capitals.',
      parameters: {
        count: { type: 'integer', description: 'Letters', minimum: 1, maximum: 5, default: 3 },
      },
      async run(artifact: Shouting, { count }) {
        return (await artifact.asString()).slice(0, count).toUpperCase()
      },
    }),
    SpooledArtifact.query({
      name: 'stall',
      description: 'Never answers.',
      parameters: {},
      run: () => new Promise<string>(() => {}),
    }),
    SpooledArtifact.query({
      name: 'flood',
      description: 'Answers far too much.',
      parameters: {},
      run: () => '👋'.repeat(1_000_000),
    }),
  ]
}

const shouting = async (content: string) => new Shouting(await spool.write(content))

function forge(calls: ForgeContext['turnToolCalls'], options?: ForgeOptions) {
  const tools = SpooledArtifact.forgeTools({ turnToolCalls: calls }, options)
  const ask = async (name: string, args: object) => {
    const tool = tools.get(name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    const answer = await tool.executor()(args).catch(failureText)
    if (typeof answer !== 'string') throw new Error(`no answer of ${name}`)
    return answer
  }
  const properties = (name: string) =>
    tools.get(name)?.jsonSchema['properties'] as Record<string, Record<string, unknown>>
  return { tools, ask, properties }
}

const SEVEN = [
  'artifact_head',
  'artifact_tail',
  'artifact_grep',
  'artifact_cat',
  'artifact_byte_length',
  'artifact_line_count',
  'artifact_estimate_tokens',
]

describe('forgeTools', () => {
  it('forges seven ephemeral read-only tools around plain text', async () => {
    const { tools } = forge([{ id: 'call_1', results: await text('a') }])
    expect(tools.names).toEqual(SEVEN)
    for (const tool of tools) {
      expect(ArtifactTool.isArtifactTool(tool)).toBe(true)
      expect([tool.ephemeral, tool.onCollision, tool.effect]).toEqual([true, 'replace', 'read'])
    }
  })

  it('forges nothing where no result is an artifact', () => {
    const results = new Tokenizable('text')
    expect(forge([]).tools.size).toBe(0)
    expect(
      forge([
        { id: 'a', results },
        { id: 'b', results: [] },
      ]).tools.size,
    ).toBe(0)
  })

  it('does not offer the call of an artifact tool, so that a grep is never grepped', async () => {
    const calls: { id: string; results: unknown; fromArtifactTool?: boolean }[] = [
      { id: 'log', results: await text('error one\nfine\nerror two') },
    ]
    const answer = await forge(calls).ask('artifact_grep', { callId: 'log', pattern: 'error' })
    expect(answer).toBe('0: error one\n2: error two')
    calls.push({ id: 'grep', results: new Tokenizable(answer), fromArtifactTool: true })
    calls.push({ id: 'sly', results: await text(answer), fromArtifactTool: true })
    const { properties, ask } = forge(calls)
    expect(properties('artifact_grep')['callId']?.['enum']).toEqual(['log'])
    await expect(ask('artifact_grep', { callId: 'sly', pattern: 'x' })).rejects.toThrow(
      'this tool has no result of a call `sly`. Use one of these as `callId`: log',
    )
  })

  it('lists the newest 64 calls', async () => {
    const results = await text('a')
    const { properties } = forge(Array.from({ length: 100 }, (_, i) => ({ id: `c${i}`, results })))
    const ids = properties('artifact_head')['callId']?.['enum'] as string[]
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([64, 'c36', 'c99'])
  })

  it('sends a plain string for a stable prompt when asked', async () => {
    const { properties, ask } = forge([{ id: 'a', results: await text('x') }], {
      callIds: 'string',
    })
    expect(properties('artifact_head')['callId']).not.toHaveProperty('enum')
    await expect(ask('artifact_head', { callId: 'b' })).rejects.toThrow(/ `callId`: a\./)
  })

  it('bounds what it says about unknown ids', async () => {
    const results = await text('a')
    const calls = Array.from({ length: 64 }, (_, i) => ({ id: `${i}-${'x'.repeat(500)}`, results }))
    const callId = `${'y'.repeat(99)}${'😀'.repeat(4_000)}`
    const asked = forge(calls).ask('artifact_head', { callId })
    const answer = await asked.catch((error: Error) => error.message)
    expect(answer.length).toBeLessThan(3_000)
    expect(answer.isWellFormed()).toBe(true)
  })

  it('has an index only where some call gave several results', async () => {
    const one = await text('one')
    expect(forge([{ id: 'a', results: one }]).properties('artifact_head')).not.toHaveProperty(
      'index',
    )
    const { properties, ask } = forge([{ id: 'a', results: [one, await text('two')] }])
    expect(properties('artifact_head')['index']).toMatchObject({ minimum: 0, maximum: 1 })
    expect(await ask('artifact_head', { callId: 'a' })).toBe('0: one')
    expect(await ask('artifact_head', { callId: 'a', index: 1 })).toBe('0: two')
    expect(await ask('artifact_head', { callId: 'a', index: 2 })).toBe(
      'Error: the call `a` has no result 2. Use one of these as `index`: 0, 1.',
    )
  })

  it('offers the queries of a class only for artifacts of that class', async () => {
    const plain = { id: 'plain', results: await text('hello') }
    const loud = { id: 'loud', results: await shouting('hello') }
    const mixed = { id: 'mixed', results: [await text('a'), await shouting('bee')] }
    expect(forge([plain]).tools.has('artifact_shout')).toBe(false)
    const { properties, ask } = forge([plain, loud, mixed])
    expect(properties('artifact_shout')['callId']?.['enum']).toEqual(['loud', 'mixed'])
    expect(properties('artifact_head')['callId']?.['enum']).toEqual(['plain', 'loud', 'mixed'])
    expect(await ask('artifact_shout', { callId: 'loud' })).toBe('HEL')
    await expect(ask('artifact_shout', { callId: 'plain' })).rejects.toThrow(
      '`callId`: loud, mixed',
    )
    expect(await ask('artifact_shout', { callId: 'mixed' })).toBe(
      'Error: the call `mixed` has a result 0 of kind text, which this tool does not read. Use one of these as `index`: 1.',
    )
    const own = Shouting.forgeTools({ turnToolCalls: [plain, loud] })
    expect(own.get('artifact_head')?.jsonSchema['properties']).toMatchObject({
      callId: { enum: ['loud'] },
    })
  })

  it('clamps numbers and reads numbers sent as text', async () => {
    const { ask } = forge([{ id: 'a', results: await shouting('hello world') }])
    expect(await ask('artifact_shout', { callId: 'a', count: 1e9 })).toBe('HELLO')
    expect(await ask('artifact_shout', { callId: 'a', count: -1 })).toBe('H')
    expect(await ask('artifact_shout', { callId: 'a', count: '2' })).toBe('HE')
    expect(await ask('artifact_shout', { callId: 'a', count: null })).toBe('HEL')
  })

  it('refuses arguments that it cannot read, naming them', async () => {
    const { ask } = forge([{ id: 'a', results: await text('x') }])
    const refused = ask('artifact_grep', { callId: 'a', limit: 'many' })
    await expect(refused).rejects.toSatisfy(
      (e) => isBobbinError(e, 'E_ARGUMENTS_REJECTED') && e.data.issues.length === 2,
    )
  })

  it('ends an answer that takes too long or grows too big', async () => {
    const calls = [{ id: 'a', results: await shouting('x') }]
    const { ask } = forge(calls, { timeoutMs: 30 })
    expect(await ask('artifact_stall', { callId: 'a' })).toMatch(/^Error: no answer within 0.03 s/)
    const flood = await ask('artifact_flood', { callId: 'a' })
    expect(flood.length).toBeLessThan(21_000)
    expect(flood.isWellFormed()).toBe(true)
    expect(flood).toMatch(/\d+ characters cut off\]$/)
  })

  it('fails for a pattern that is not supported, and says what to use instead', async () => {
    const { ask } = forge([{ id: 'a', results: await text('x') }])
    for (const pattern of ['(?=a)', '(a)\\1', '(', 'x{2000}']) {
      expect(await ask('artifact_grep', { callId: 'a', pattern })).toMatch(/^Error: /)
    }
    const cursor = 'not one'
    expect(await ask('artifact_cat', { callId: 'a', cursor })).toMatch(/^Error: `not one`/)
    expect(await ask('artifact_grep', { callId: 'a', pattern: 'x', cursor })).toMatch(/^Error: /)
  })
})

describe('forged text tools', () => {
  it('page through everything by cursor, each answer bounded', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `row ${i} ${'é'.repeat(i % 50)}`)
    const { ask } = forge([{ id: 'a', results: await text(lines.join('\n')) }])
    const seen: string[] = []
    let cursor: string | undefined = 'line:0'
    for (let pages = 0; cursor !== undefined && pages < 200; pages++) {
      const answer = await ask('artifact_cat', { callId: 'a', cursor, end: 5_000 })
      expect(answer.length).toBeLessThan(17_000)
      const [, body = '', next] = /^(.*?)(?:\n\[left out.*"(.*)"\])?$/s.exec(answer) ?? []
      seen.push(...body.split('\n').map((row) => row.replace(/^\d+: /, '')))
      cursor = next
    }
    expect(seen).toEqual(lines)
  })

  it('page through matches by cursor, whatever their context costs', async () => {
    const lines = Array.from({ length: 3_000 }, (_, i) => (i % 7 === 0 ? `hit ${i}` : ''))
    const { ask } = forge([{ id: 'a', results: await text(lines.join('\n')) }])
    for (const context of [0, 3]) {
      const seen: string[] = []
      let cursor: string | undefined
      for (let pages = 0; pages < 100; pages++) {
        const options = { pattern: 'hit', context, limit: 500, cursor }
        const answer = await ask('artifact_grep', { callId: 'a', ...options })
        expect(answer.length).toBeLessThan(17_000)
        seen.push(...(answer.match(/hit \d+/g) ?? []))
        cursor = /cursor "(\d+)"/.exec(answer)?.[1]
        if (cursor === undefined) break
      }
      expect(seen).toEqual(lines.filter(Boolean))
    }
  })

  it('stop with the turn, by throwing what the turn was stopped for', async () => {
    const tools = SpooledArtifact.forgeTools({
      turnToolCalls: [{ id: 'a', results: await shouting('x') }],
    })
    const controller = new AbortController()
    const running = tools.get('artifact_stall')?.executor({ signal: controller.signal })
    const stopped = running?.({ callId: 'a' })
    controller.abort(new Error('enough'))
    await expect(stopped).rejects.toThrow('enough')
  })

  it('stay bounded on one endless line and say how to go on', async () => {
    const { ask } = forge([{ id: 'a', results: await text('日本'.repeat(1_000_000)) }])
    const head = await ask('artifact_head', { callId: 'a' })
    expect(head).toMatch(
      /^0: 日本.* \[\d+ bytes more\]\n\[left out: the rest of line 0; .*"line:0\+\d+"\]$/,
    )
    const answers = await Promise.all([
      ask('artifact_tail', { callId: 'a', lines: 1 }),
      ask('artifact_cat', { callId: 'a', start: 0, end: 1 }),
      ask('artifact_grep', { callId: 'a', pattern: '本日' }),
    ])
    for (const answer of [head, ...answers]) expect(answer.length).toBeLessThan(17_000)
  })

  it('tell sizes', async () => {
    const { ask } = forge([{ id: 'a', results: await text('a\nb\n') }])
    expect(await ask('artifact_byte_length', { callId: 'a' })).toBe('4 bytes')
    expect(await ask('artifact_line_count', { callId: 'a' })).toBe('2 lines')
    expect(await ask('artifact_estimate_tokens', { callId: 'a' })).toBe('4 tokens')
    expect(await ask('artifact_cat', { callId: 'a', start: 7 })).toBe(
      '(no lines: the artifact has 2, counted from 0)',
    )
  })
})
