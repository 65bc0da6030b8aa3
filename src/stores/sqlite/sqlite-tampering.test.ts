import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TamperedStore, tamperedStore } from '../../../test/sqlite/tampered-store.ts'

let tampered: TamperedStore
beforeAll(async () => {
  tampered = await tamperedStore()
})
afterAll(() => tampered.remove())

const after: TamperedStore['after'] = (...change) => tampered.after(...change)

describe('verify, on SQLite', () => {
  it('finds nothing when nothing was done', async () => {
    const { store, seals } = tampered
    expect((await store.verify({ conversation: 'c', seals })).faults).toEqual([])
  })

  it('finds single-byte edits of every column of every entry and gate', async () => {
    const { edits, missed } = await tampered.missedEdits(29)
    expect(missed).toEqual([])
    expect(edits).toBeGreaterThan(900)
  })

  it('finds flipped bits, also those that leave no valid UTF-8', async () => {
    const { edits, missed } = await tampered.missedBits(13)
    expect(missed).toEqual([])
    expect(edits).toBeGreaterThan(300)
  })

  it.each(['seal', 'id', 'tool'])('finds an empty column %s', async (name) => {
    const sql = `UPDATE bobbin_entries SET ${name} = NULL WHERE ${name} IS NOT NULL`
    expect((await after(sql)).length).toBeGreaterThan(0)
  })

  it('reads a conversation whose texts are not UTF-8', async () => {
    const { database, store } = tampered
    database.exec('BEGIN')
    try {
      const broken = "CAST(x'c3' AS TEXT)"
      database.exec(`UPDATE bobbin_conversations SET owner = ${broken}, seal = ${broken}`)
      expect(await store.conversations()).toHaveLength(1)
      expect((await store.verify({ conversation: 'c' })).faults).not.toEqual([])
      database.exec(`UPDATE bobbin_gates SET state = ${broken}, body = ${broken}`)
      expect((await store.verify({ conversation: 'c' })).faults).not.toEqual([])
    } finally {
      database.exec('ROLLBACK')
    }
  })

  it.each([
    ['a text with its digest recomputed', 'edited', 'seal', () => editWithDigest(4)],
    [
      'an entry deleted from the middle',
      'deleted',
      'entry',
      () => after('DELETE FROM bobbin_entries WHERE seq = 3'),
    ],
    [
      'the last entry deleted',
      'deleted',
      'conversation',
      () => after('DELETE FROM bobbin_entries WHERE seq = 11'),
    ],
    [
      'two entries exchanged',
      'reordered',
      'entry',
      () =>
        after(
          'UPDATE bobbin_entries SET seq = -1 WHERE seq = 2; UPDATE bobbin_entries SET seq = 2 WHERE seq = 3; UPDATE bobbin_entries SET seq = 3 WHERE seq = -1',
        ),
    ],
    [
      'an entry added',
      'inserted',
      'conversation',
      () =>
        after(
          'INSERT INTO bobbin_entries (conversation, seq, kind, turn, time, digest, body) SELECT conversation, 12, kind, turn, time, digest, body FROM bobbin_entries WHERE seq = 11',
        ),
    ],
    [
      'a time changed',
      'edited',
      'entry',
      () => after('UPDATE bobbin_entries SET time = time + 1 WHERE seq = 2'),
    ],
    ['a gate deleted', 'deleted', 'gate', () => after("DELETE FROM bobbin_gates WHERE id = 'g2'")],
    [
      'a gate added',
      'inserted',
      'gate',
      () =>
        after(
          "INSERT INTO bobbin_gates SELECT conversation, 'g3', state, digest, body FROM bobbin_gates WHERE id = 'g2'",
        ),
    ],
    [
      'a used gate reopened',
      'edited',
      'gate',
      () => after("UPDATE bobbin_gates SET state = 'approved' WHERE id = 'g1'"),
    ],
    ['a blob edited', 'edited', 'blob', () => after("UPDATE bobbin_blobs SET bytes = x'00'")],
    ['a blob deleted', 'deleted', 'spool', () => after('DELETE FROM bobbin_blobs')],
    [
      'a reference deleted',
      'deleted',
      'conversation',
      () => after('DELETE FROM bobbin_references'),
    ],
    [
      'another key',
      'edited',
      'conversation',
      () => after('UPDATE bobbin_conversations SET key = randomblob(32)'),
    ],
    [
      'another seal',
      'edited',
      'conversation',
      () => after("UPDATE bobbin_conversations SET seal = ''"),
    ],
    [
      'an earlier epoch',
      'inserted',
      'entry',
      () => after('UPDATE bobbin_conversations SET epoch = 0'),
    ],
  ] as const)('names %s', async (_, fault, part, tamper) => {
    const faults = await tamper()
    expect(faults).toContainEqual(expect.objectContaining({ fault, part }))
  })

  it('cannot see that the last turns were dropped, unless a seal was kept elsewhere', async () => {
    const { database, store, seals } = tampered
    database.exec('BEGIN')
    database.exec('DELETE FROM bobbin_entries WHERE seq > 7')
    database
      .prepare('UPDATE bobbin_conversations SET length = 7, sealed_seq = 7, seal = ?')
      .run([seals[0] ?? ''])
    const inside = await store.verify({ conversation: 'c' })
    const outside = await store.verify({ conversation: 'c', seals })
    database.exec('ROLLBACK')
    expect(inside.faults.filter(({ part }) => part !== 'gate')).toEqual([])
    const missing = { fault: 'seal-missing', id: seals[1] }
    expect(outside.faults).toContainEqual(expect.objectContaining(missing))
  })

  it('refuses to read an entry, a gate or a blob that was edited', async () => {
    const { database, store } = tampered
    database.exec('BEGIN')
    database.exec("UPDATE bobbin_entries SET body = replace(body, 'done', 'gone')")
    await expect(store.get('c', 'settlement', 'call_2')).rejects.toMatchObject({
      code: 'E_STORE_CORRUPT',
    })
    database.exec('UPDATE bobbin_gates SET body = replace(body, \'"n":1\', \'"n":9\')')
    await expect(store.gate('c', 'g2')).rejects.toMatchObject({ code: 'E_STORE_CORRUPT' })
    database.exec('ROLLBACK')
  })
})

/** An attack that can compute digests but does not have the key. */
async function editWithDigest(seq: number) {
  const { body } = tampered.database
    .prepare('SELECT body FROM bobbin_entries WHERE seq = ?')
    .get([seq]) as {
    body: string
  }
  const edited = body.replace('"isError":false', '"isError":true')
  const digest = createHash('sha256').update(edited).digest('hex')
  return after(
    `UPDATE bobbin_entries SET body = ?1, digest = ?2 WHERE seq = ${seq}`,
    edited,
    digest,
  )
}
