import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import { loopbackProvider } from '../src/testing/index.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { definitionOf } from '../src/wire/definition-of.ts'
import { wire } from '../src/wire/index.ts'
import { bundledProcess, type ProcessEnd } from './crash/bundled-process.ts'
import type { PrefixTask } from './crash/prefix-process.ts'
import { storeAt } from './crash/store-at.ts'
import { answersOf, BREAKING, playBreaking } from './prefix/breaking.ts'
import { begins } from './prefix/prompt.ts'
import { sampleTool } from './turn-samples.ts'
import { APIS, samplesOf } from './wire/provider-samples.ts'

type Json = Record<string, unknown>
type Server = Awaited<ReturnType<typeof serve>>

/** The turns that this process plays. Another one reads the log and plays the rest. */
const HERE = 2

let folder: string
let servers: ReadonlyMap<string, Server>
let played: ProcessEnd
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-breaks-'))
  const all = await Promise.all(APIS.map(async (api) => [api, await serve(api)] as const))
  servers = new Map(all)
  await Promise.all(all.map(([api, { url }]) => playHere(api, url)))
  const conversations = all.map(([api, { url }]) => ({ api, url, path: pathOf(api) }))
  const program = await bundledProcess('prefix-process')
  played = await program.start({ conversations, from: HERE } satisfies PrefixTask)
  program.remove()
}, 60_000)
afterAll(async () => {
  for (const server of servers.values()) await server.close()
  rmSync(folder, { recursive: true })
})

const pathOf = (api: string) => join(folder, `${api}.db`)

async function serve(api: string) {
  const { script } = samplesOf(api)
  const exchanges = BREAKING.flatMap((_, turn) => answersOf(script, turn))
  return loopbackProvider({ api, exchanges, validate: wire(api).validate })
}

async function playHere(api: string, url: string): Promise<void> {
  const { open, model } = samplesOf(api)
  const store = storeAt({ path: pathOf(api) })
  for (let turn = 0; turn < HERE; turn++) {
    await playBreaking(turn, store, () => open(url, { model: model.model }))
  }
  await store.close()
}

/** Which requests do not begin with the one before, seen from outside. Some protocols name the model in the path. */
const breaksIn = ({ requests }: Server) =>
  requests.flatMap(({ body, path }, at) => {
    const before = requests[at - 1]
    if (before === undefined) return []
    return before.path === path && begins(before.body as Json, body as Json) ? [] : [at]
  })

/** Which requests the log calls broken, where and why. */
async function toldBreaks(store: Store) {
  const told = []
  for await (const { kind, data } of store.entries('c')) if (kind === 'model-call') told.push(data)
  return told.flatMap(({ prefix }, request) =>
    prefix?.broken ? [{ request, ...prefix.broken }] : [],
  )
}

describe.each(APIS)('the breaks of the prefix over %s', (api) => {
  it('are those that the log tells, each with its cause, here and in another process', async () => {
    expect(played).toMatchObject({ end: 0, errors: expect.not.stringContaining('Error') })
    const store = storeAt({ path: pathOf(api) })
    const told = await toldBreaks(store)
    await store.close()
    expect(told.map(({ causes }) => causes)).toEqual(BREAKING.flatMap(({ breaks = [] }) => breaks))
    expect(told.map(({ request }) => request)).toEqual(breaksIn(servers.get(api) as Server))
    const { tools, instructions, member } = definitionOf(api, { by: 'test' }).history ?? {}
    expect(told.map(({ at }) => at.replace(/\d+/, 'n'))).toEqual([
      tools,
      instructions ?? `${member}[n]`,
      'model',
      'model',
      `${member}[n]`,
      tools,
      `${member}[n]`,
      instructions ?? `${member}[n]`,
      instructions ?? `${member}[n]`,
    ])
  })

  it('are a warning where nothing explains them', () => {
    const line = played.lines.find((each) => each['api'] === api)
    const warnings = (line?.['warnings'] ?? []) as readonly string[]
    const broken = warnings.filter((code) => code === 'PREFIX_BROKEN')
    // The second one of a turn at the same place is not told again.
    expect(broken).toEqual(['PREFIX_BROKEN'])
  })
})

describe('a prefix', () => {
  it('breaks when the first result becomes a handle because of its size', async () => {
    const api = 'openai-responses'
    const { script, open } = samplesOf(api)
    const call = { id: 'call_1', tool: 'huge', args: '{}' }
    const exchanges = [
      { events: [...script.calls([call])] },
      { events: [...script.answer('done')] },
    ]
    const server = await loopbackProvider({ api, exchanges })
    onTestFinished(() => server.close())
    const huge = sampleTool('huge', () => 'x'.repeat(11_000_000))
    const store = memoryStore()
    const runner = new TurnRunner({ model: open(server.url), tools: [huge], store })
    await runner.run({ conversation: 'c', message: 'go' })
    expect(await toldBreaks(store)).toEqual([{ request: 1, at: 'tools', causes: ['handle'] }])
  })
})
