import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TamperedStore, tamperedStore } from '../../../test/sqlite/tampered-store.ts'
import { storeSamples as sample } from '../../testing/store/store-samples.ts'

let tampered: TamperedStore
beforeAll(async () => {
  tampered = await tamperedStore()
  const { store } = tampered
  const { epoch } = await store.acquire('d', { owner: 'test' })
  for (const turn of ['t1', 't2']) {
    await store.append('d', epoch, [
      ...[sample.turnStart(turn), sample.message(turn, turn), sample.gateOpened(turn, turn)],
      ...[sample.gateClosed(turn, turn, 'abandoned'), sample.turnEnd(turn)],
    ])
  }
  await store.fork('d', { to: 'f' })
  await store.fork('f', { to: 'g' })
})
afterAll(() => tampered.remove())

const IN = (id: string) => `(SELECT ref FROM bobbin_conversations WHERE id = '${id}')`

/** Does something to the tables, then something to the store, and undoes the first. */
async function after<T>(sql: string, act: () => Promise<T>): Promise<T> {
  const { database } = tampered
  database.exec('BEGIN')
  try {
    for (const part of sql.split(';')) database.prepare(part).run()
    return await act()
  } finally {
    database.exec('ROLLBACK')
  }
}

describe('verify of a fork, on SQLite', () => {
  it('finds nothing when nothing was done', async () => {
    for (const conversation of ['f', 'g']) {
      expect((await tampered.store.verify({ conversation })).faults).toEqual([])
    }
  })

  it.each([
    [
      'a copied entry',
      "UPDATE bobbin_entries SET body = replace(body, 'message', 'massage') WHERE seq = 2",
    ],
    ['a gate', "UPDATE bobbin_gates SET state = 'pending' WHERE id = 't1'"],
    ['an entry that is missing', 'DELETE FROM bobbin_entries WHERE seq = 3'],
    [
      'a copied seal',
      "UPDATE bobbin_entries SET seal = replace(seal, 'a', 'b') WHERE seal IS NOT NULL",
    ],
  ])('finds a change of %s', async (_, sql) => {
    for (const conversation of ['f', 'g']) {
      const change = `${sql} AND conversation = ${IN(conversation)}`
      const { ok } = await after(change, () => tampered.store.verify({ conversation }))
      expect(ok).toBe(false)
    }
  })

  it.each([
    ['where it comes from', 'origin = replace(origin, \'"d"\', \'"x"\')'],
    ['how much it took over', 'origin = replace(origin, \'"length":\', \'"length":1\')'],
    ['its first seal', 'origin = replace(origin, \'"seal":"\', \'"seal":"0\')'],
    ['that it is a fork', 'origin = NULL'],
    ['its origin into damaged text', "origin = '{'"],
    ['the key of its envelopes', "envelope = x'00'"],
    ['its last seal', "seal = ''"],
  ])('finds a change of %s', async (_, change) => {
    const sql = `UPDATE bobbin_conversations SET ${change} WHERE id = 'f'`
    const { ok } = await after(sql, () => tampered.store.verify({ conversation: 'f' }))
    expect(ok).toBe(false)
  })

  it.each(['d', 'f'])('is not needed to find a change of %s: it cannot be forked', async (from) => {
    const edit = `UPDATE bobbin_entries SET body = replace(body, 'message', 'massage') WHERE seq = 2 AND conversation = ${IN(from)}`
    const seal = `UPDATE bobbin_entries SET seal = 'x' WHERE seal IS NOT NULL AND conversation = ${IN(from)}`
    for (const sql of [edit, seal]) {
      const forking = after(sql, () => tampered.store.fork(from, { to: 'new' }))
      await expect(forking).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' })
    }
  })
})

describe('a large fork, on SQLite', () => {
  it('is found by searches like any other conversation', async () => {
    const { store } = tampered
    const { epoch } = await store.acquire('long', { owner: 'test' })
    for (let n = 0; n < 700; n += 100) {
      const notes = Array.from({ length: 100 }, (_, at) => ({
        kind: 'note' as const,
        turnId: `t${n}`,
        data: { level: 'info' as const, code: 'test', message: `${n + at}` },
      }))
      await store.append('long', epoch, notes)
    }
    await store.fork('long', { to: 'copy' })
    for (const conversation of ['long', 'copy']) {
      expect(await store.count({ conversation, turnId: 't600' })).toBe(100)
      expect(await store.count({ conversation, kind: 'note' })).toBe(700)
    }
    const more = await store.acquire('copy', { owner: 'test' })
    const note = { level: 'info', code: 'test', message: 'new' } as const
    await store.append('copy', more.epoch, [{ kind: 'note', turnId: 't600', data: note }])
    expect(await store.count({ turnId: 't600' })).toBe(201)
    expect((await store.verify({ conversation: 'copy' })).ok).toBe(true)
  })
})
