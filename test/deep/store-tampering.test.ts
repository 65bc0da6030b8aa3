import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SpoolStore } from '../../src/spool/spool-store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { storeSamples as sample } from '../../src/testing/store/store-samples.ts'
import { tamperedStore } from '../sqlite/tampered-store.ts'

describe('verify', () => {
  it('finds every single-byte edit of everything that is stored', async () => {
    const tampered = await tamperedStore()
    const { edits, missed } = await tampered.missedEdits(1)
    expect(missed).toEqual([])
    expect(edits).toBeGreaterThan(4000)
    await tampered.remove()
  })

  it('finds every flipped bit of everything that is stored', async () => {
    const tampered = await tamperedStore()
    const { edits, missed } = await tampered.missedBits(1)
    expect(missed).toEqual([])
    expect(edits).toBeGreaterThan(30_000)
    await tampered.remove()
  })

  it('finds every single-byte edit of a small result', async () => {
    const tampered = await tamperedStore()
    const { bytes } = tampered.database.prepare('SELECT bytes FROM bobbin_blobs').get([]) as {
      bytes: Uint8Array
    }
    const length = new Uint8Array(bytes).length
    for (let at = 0; at < length; at++) {
      const edited = Buffer.from(new Uint8Array(bytes))
      edited[at] = (edited[at] ?? 0) ^ 1
      const faults = await tampered.after(
        `UPDATE bobbin_blobs SET bytes = x'${edited.toString('hex')}'`,
      )
      expect(faults).toMatchObject([{ fault: 'edited', part: 'blob' }])
    }
    expect(length).toBeGreaterThan(10)
    await tampered.remove()
  })

  it('finds single-byte edits all over an artifact and its index on the spool', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-edits-'))
    const store = sqliteStore(join(folder, 'x.db'))
    const spool = store.spool as SpoolStore
    const { digest, byteLength } = await spool.write('a line of an artifact\n'.repeat(4000))
    const { epoch } = await store.acquire('c', { owner: 'test', leaseMs: 1e9 })
    const results = sample.artifact(digest, byteLength)
    await store.append('c', epoch, [sample.settlement('t', 'call', { results })])
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => name.includes(digest) && statSync(name).isFile())
    expect(files).toHaveLength(2)
    const missed: string[] = []
    let edits = 0
    for (const file of files) {
      const whole = readFileSync(file)
      const stride = whole.length > 5000 ? 97 : 1
      for (let at = 0; at < whole.length; at += stride) {
        const edited = Buffer.from(whole)
        edited[at] = (edited[at] ?? 0) ^ 1
        writeFileSync(file, edited)
        edits++
        // What a store remembers must not hide what has become of the file since.
        const { faults } = await store.verify({ conversation: 'c' })
        if (faults.length === 0) missed.push(`${file} at ${at}`)
      }
      writeFileSync(file, whole)
    }
    expect(missed).toEqual([])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    expect(edits).toBeGreaterThan(900)
    await store.close()
    rmSync(folder, { recursive: true })
  })
})
