import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { loopbackProvider } from '../../src/testing/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { APIS, samplesOf } from './provider-samples.ts'

const ID = 'call\ud800'
const SHOWN = 'call\ufffd'
const conversation = 'c'
const STORES: Readonly<Record<string, () => Store>> = {
  memory: memoryStore,
  SQLite: () => sqliteStore(join(mkdtempSync(join(tmpdir(), 'bobbin-pairs-')), 'x.db')),
}
const matrix = APIS.flatMap((api) => Object.keys(STORES).map((store) => [api, store] as const))

const log = new Tool({
  name: 'read_log',
  description: 'Reads a log.',
  inputSchema: z.looseObject({}),
  effect: 'read',
  inline: false,
  handler: () => 'first line\nsecond line',
})

describe.each(matrix)('an id with half a surrogate pair over %s, in %s', (api, kind) => {
  const { calls, answer } = samplesOf(api).script
  const ask = (id: string, tool: string, args: object) => ({
    events: calls([{ id, tool, args: JSON.stringify(args) }]),
  })

  it('names a handle that later turns can read', async () => {
    const exchanges = [
      ask(ID, 'read_log', {}),
      ask('q1', 'artifact_head', { callId: SHOWN }),
      { events: answer('fine') },
      ask('q2', 'artifact_head', { callId: SHOWN }),
      ask(ID, 'read_log', {}),
      { events: answer('fine') },
    ]
    const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
    const store = (STORES[kind] as () => Store)()
    onTestFinished(async () => {
      await server.close()
      await store.close()
    })
    const run = () =>
      new TurnRunner({ model: samplesOf(api).open(server.url), tools: [log], store }).run({
        conversation,
        message: 'read it',
      })
    const first = await run()
    expect(first).toMatchObject({ status: 'completed', text: 'fine' })
    expect(first.toolCalls).toMatchObject([
      { id: SHOWN, wire: { callId: ID } },
      { settlement: 'ok' },
    ])
    const second = await run()
    expect(second).toMatchObject({ status: 'completed', text: 'fine' })
    expect(second.toolCalls).toMatchObject([{ settlement: 'ok' }, { id: `${SHOWN}~2` }])
    const sent = server.requests.map(({ body }) => JSON.stringify(body))
    expect(sent.filter((body) => /\\ud8/i.test(body))).toEqual([])
    expect(server.requests.flatMap(({ violations }) => violations)).toEqual([])
    expect((await store.verify({ conversation })).faults).toEqual([])
    const lines: string[] = []
    for await (const line of store.export(conversation)) lines.push(line)
    expect(await memoryStore().import(lines)).toMatchObject({ conversation })
  })
})
