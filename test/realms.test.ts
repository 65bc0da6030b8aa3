import { fileURLToPath } from 'node:url'
import { createContext, runInContext, runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import * as bobbin from '../src/index.ts'

/** Loads a second copy of the whole package into a realm of its own. */
async function secondCopy(): Promise<typeof bobbin> {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const { outputFiles } = await build({
    stdin: { contents: "export * from './src/index.ts'", resolveDir: root },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'bobbin',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    alias: { '#hash': `${root}/src/core/hash.portable.ts` },
    logLevel: 'error',
  })
  const realm = createContext({
    TextEncoder,
    TextDecoder,
    crypto,
    performance,
    setTimeout,
    AbortController,
  })
  runInContext(outputFiles[0]?.text ?? '', realm)
  return (realm as { bobbin: typeof bobbin }).bobbin
}

const tool = {
  name: 'a',
  description: 'a',
  inputSchema: { type: 'object' },
  handler: () => 'a',
} as const

const sample = async (kit: typeof bobbin) => {
  const at = { createdAt: '2026-01-02T00:00:00.000Z' }
  const common = { id: 'x', content: 'text', ...at }
  return {
    Tokenizable: new kit.Tokenizable('x'),
    Identity: new kit.Identity({ identifier: 'a', representation: 'b' }),
    Message: new kit.Message({ ...common, role: 'user' }),
    Thought: new kit.Thought(common),
    Memory: new kit.Memory(common),
    Retrievable: new kit.Retrievable(common),
    ToolCall: new kit.ToolCall({
      ...at,
      id: 'call_1',
      tool: 'read_log',
      args: '{"b":1,"a":{"d":[1,2],"c":null}}',
      results: 'done',
      isComplete: true,
      isError: false,
      completedAt: '2026-01-02T00:00:01.000Z',
    }),
    BobbinError: new kit.BobbinError('E_JSON_TOO_DEEP', 'x', { limit: 1 }),
    Tool: new kit.Tool(tool),
    ArtifactTool: new kit.ArtifactTool(tool),
    Media: new kit.Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'chart.png',
      trustTier: 'third-party',
      modalityHazard: 'inert',
      reader: kit.bytesMedia(Uint8Array.of(1)),
    }),
    SpooledArtifact: new kit.SpooledArtifact(await kit.memorySpool().write('log')),
  }
}

describe('instances of another copy of the package in another realm', async () => {
  const other = await secondCopy()
  const foreign = await sample(other)
  const own = await sample(bobbin)

  it('are strangers to instanceof', () => {
    expect(foreign.ToolCall).not.toBeInstanceOf(bobbin.ToolCall)
    expect(foreign.ToolCall).not.toBeInstanceOf(Object)
  })

  it.each(Object.keys(own) as (keyof typeof own)[])('pass the guard of %s, both ways', (name) => {
    expect(bobbin.isInstanceOf(foreign[name], name)).toBe(true)
    expect(other.isInstanceOf(own[name], name)).toBe(true)
    // An artifact tool is a tool.
    const right = name === 'ArtifactTool' ? ['ArtifactTool', 'Tool'] : [name]
    const wrong = Object.keys(own).filter((key) => !right.includes(key))
    expect(wrong.some((key) => bobbin.isInstanceOf(foreign[name], key))).toBe(false)
  })

  it('have the same checksum and digest', () => {
    expect(foreign.ToolCall.checksum).toBe(own.ToolCall.checksum)
    expect(foreign.ToolCall.digest).toBe(own.ToolCall.digest)
  })

  it('can be taken over as raw values', () => {
    const taken = new bobbin.ToolCall(foreign.ToolCall)
    expect(bobbin.ToolCall.isToolCall(taken)).toBe(true)
    expect(taken.digest).toBe(own.ToolCall.digest)
    expect(taken.createdAt).toBeInstanceOf(
      Object.getPrototypeOf(own.ToolCall.createdAt).constructor,
    )
  })

  it.each(Object.keys(own) as (keyof typeof own)[])('are known from look-alikes of %s', (name) => {
    const lookAlikes = [
      { ...foreign[name] },
      Object.create(Object.getPrototypeOf(foreign[name])),
      Object.assign(Object.create(Object.getPrototypeOf(own[name])), foreign[name]),
      new Proxy(foreign[name], {}),
    ]
    for (const value of lookAlikes) expect(bobbin.isInstanceOf(value, name)).toBe(false)
  })

  it('serve as the results of a record', () => {
    for (const results of [foreign.SpooledArtifact, [foreign.Media], foreign.Tokenizable]) {
      expect(new bobbin.ToolCall({ ...own.ToolCall, results }).results).toEqual(results)
    }
  })
})

describe('a store of another copy of the package', async () => {
  const other = await secondCopy()

  it('takes a turn with its small results, and gives them back', async () => {
    const store: bobbin.Store = other.memoryStore()
    const runner = new bobbin.TurnRunner({
      store,
      tools: [new bobbin.Tool({ ...tool, effect: 'read' })],
      executor: async ({ iteration }) =>
        iteration > 1 ? { answer: 'done' } : { calls: [{ id: 'c', tool: 'a', args: {} }] },
    })
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'done' })
    const [call] = outcome.toolCalls
    const digest = (call?.results as bobbin.SpooledArtifact | undefined)?.digest ?? ''
    expect(Buffer.from((await store.blob(digest)) ?? []).toString()).toBe('a')
    expect(await store.get('k', 'settlement', 'c')).toMatchObject({ data: call?.toJSON() })
    expect(await store.verify({ conversation: 'k' })).toMatchObject({ ok: true })
  })
})

describe('a store whose promises are of another realm', () => {
  const Elsewhere = runInNewContext('Promise') as PromiseConstructor

  /** Runs one call on a memory store that takes its time, and does `first` before each append. */
  async function play(first: (kinds: readonly string[]) => void) {
    const own = bobbin.memoryStore()
    let isStored: boolean | undefined
    const handler = async () => {
      isStored = (await own.get('k', 'intent', 'c')) !== undefined
      return 'sent'
    }
    const store: bobbin.Store = {
      ...own,
      append: (...given) =>
        new Elsewhere((resolve, reject) => {
          setTimeout(() => {
            try {
              first(given[2].map(({ kind }) => kind))
              own.append(...given).then(resolve, reject)
            } catch (error) {
              reject(error)
            }
          }, 1)
        }),
    }
    const runner = new bobbin.TurnRunner({
      store,
      tools: [new bobbin.Tool({ ...tool, name: 'send', effect: 'write', handler })],
      executor: async ({ iteration }) =>
        iteration > 1 ? { answer: 'done' } : { calls: [{ id: 'c', tool: 'send', args: {} }] },
    })
    const outcome = await runner.run({ message: 'go', conversation: 'k' })
    return { outcome, isStored, settlement: await own.get('k', 'settlement', 'c') }
  }

  it('has the intent before the handler starts, and the settlement when the turn ends', async () => {
    const { outcome, isStored, settlement } = await play(() => {})
    expect(outcome).toMatchObject({ status: 'completed', text: 'done' })
    expect(isStored).toBe(true)
    expect(settlement?.data).toMatchObject({ id: 'c', settlement: 'ok' })
  })

  it('keeps a call from running whose intent it refuses', async () => {
    const { outcome, isStored } = await play((kinds) => {
      if (kinds.includes('intent')) throw new Error('disk full')
    })
    expect(outcome.status).toBe('failed')
    expect(isStored).toBeUndefined()
  })
})
