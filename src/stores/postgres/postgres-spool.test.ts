import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedServer, embeddedServer } from '../../../test/postgres/embedded-server.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { spoolConformance } from '../../testing/spool-conformance.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { type PostgresSpool, postgresSpool } from './postgres-spool.ts'
import { postgresStore } from './postgres-store.ts'

let server: EmbeddedServer
let schemas = 0
const newSchema = () => `spool_${++schemas}`
const opened: PostgresSpool[] = []
const open = (options: Partial<Parameters<typeof postgresSpool>[0]> = {}) => {
  const spool = postgresSpool({ url: server.url, schema: newSchema(), ...options })
  opened.push(spool)
  return spool
}

beforeAll(async () => {
  server = await embeddedServer()
}, 60_000)
afterAll(async () => {
  await Promise.all(opened.map((spool) => spool.close()))
  await server.remove()
}, 30_000)

describe('postgresSpool', () => {
  for (const { name, run } of spoolConformance((options) => open(options))) it(name, run)

  it('refuses to end a write that was swept, and keeps the older copy', async () => {
    const schema = newSchema()
    const spool = open({ schema })
    const sweeper = open({ schema, clock: { now: () => Date.now() + 7_200_000 } })
    const { digest } = await spool.write('')
    const data = (async function* () {
      await sweeper.sweep(new Set([digest]))
      yield ''
    })()
    await expect(spool.write(data)).rejects.toMatchObject({ code: 'E_SPOOL_WRITE_FAILED' })
    await (await spool.read(digest)).verify()
  })

  it('keeps tenants apart', async () => {
    const schema = newSchema()
    const [ann, bob] = [open({ schema, tenant: 'ann' }), open({ schema, tenant: 'bob' })]
    const { digest } = await ann.write('of ann')
    await expect(bob.read(digest)).rejects.toMatchObject({ code: 'E_SPOOL_NOT_FOUND' })
    expect(await bob.delete(digest)).toBe(false)
    expect(await (await ann.read(digest)).read(0, 6)).toEqual(new TextEncoder().encode('of ann'))
  })

  it('finds changed bytes and a changed index', async () => {
    const schema = newSchema()
    const spool = open({ schema })
    const sql = postgres(server.url, { max: 1 })
    try {
      const reader = await spool.write('line one\nline two\n')
      await sql.unsafe(`UPDATE ${schema}.bobbin_spools SET lines = substr(lines, 2)`)
      const again = await spool.read(reader.digest)
      expect(again.lineCount).toBe(2)
      await expect(again.verify()).rejects.toMatchObject({ data: { part: 'index' } })
      await sql.unsafe(`UPDATE ${schema}.bobbin_spool_blocks SET bytes = 'line one\nline TWO\n'`)
      await expect(again.read(0, 4)).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
      await expect(again.verify()).rejects.toMatchObject({ data: { part: 'bytes' } })
      await spool.write('line one\nline two\n')
      await again.verify()
    } finally {
      await sql.end()
    }
  })

  it('leaves nothing of a write that failed, and sweeps what a dead process left', async () => {
    const schema = newSchema()
    const spool = open({ schema, clock: { now: () => Date.now() } })
    async function* broken() {
      yield new Uint8Array(600_000)
      throw new Error('the source broke')
    }
    await expect(spool.write(broken())).rejects.toThrow('the source broke')
    const sql = postgres(server.url, { max: 1 })
    try {
      const count = async () =>
        Number((await sql.unsafe(`SELECT count(*) AS n FROM ${schema}.bobbin_spools`))[0]?.['n'])
      expect(await count()).toBe(0)
      await sql.unsafe(
        `INSERT INTO ${schema}.bobbin_spools (id, tenant, byte_length, written_at) VALUES ('dead', '', 7, 1)`,
      )
      const report = await spool.sweep(new Set(), { graceMs: 1000 })
      expect(report).toEqual({ kept: 0, deleted: 0, bytesFreed: 7 })
      expect(await count()).toBe(0)
    } finally {
      await sql.end()
    }
  })

  it('takes the same content from many writers at once', async () => {
    const spool = open()
    const bytes = new Uint8Array(700_000).fill(65)
    const readers = await Promise.all(Array.from({ length: 8 }, () => spool.write(bytes)))
    expect(new Set(readers.map(({ digest }) => digest)).size).toBe(1)
    const held: string[] = []
    for await (const digest of spool.digests()) held.push(digest)
    expect(held).toHaveLength(1)
    await readers[0]?.verify()
  })
})

describe('postgresStore without a spool', () => {
  it('keeps larger results in the database, where another process finds them', async () => {
    const where = { url: server.url, schema: newSchema() }
    const log = 'a line of the log\n'.repeat(20_000)
    const tools = [sampleTool('read_log', () => log, { inline: false })]
    const store = postgresStore(where)
    const model = scriptedModel([[{ call: 'read_log', id: 'c' }], [{ text: 'read' }]])
    await new TurnRunner({ store, tools, model }).run({ conversation: 'a', message: 'go' })
    await store.close()
    const other = postgresStore(where)
    const reader = scriptedModel([
      [{ call: 'artifact_tail', args: { callId: 'c', lines: 1 } }],
      [{ text: 'ok' }],
    ])
    const runner = new TurnRunner({ store: other, tools, model: reader })
    const { toolCalls } = await runner.run({ conversation: 'a', message: 'And its end?' })
    expect(toolCalls).toMatchObject([{ settlement: 'ok' }])
    expect((await other.verify({ conversation: 'a' })).faults).toEqual([])
    await other.close()
  })
})
