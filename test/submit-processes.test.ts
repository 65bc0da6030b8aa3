import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BundledProcess, bundledProcess } from './crash/bundled-process.ts'
import { storeAt } from './crash/store-at.ts'
import type { SubmitTask } from './crash/submit-process.ts'

let program: BundledProcess
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-submits-'))
  program = await bundledProcess('submit-process')
}, 60_000)
afterAll(() => {
  program.remove()
  rmSync(folder, { recursive: true })
})

describe('one `turnId` from two processes on a SQLite file', () => {
  it('is one turn, however often both send it at once', { timeout: 60_000 }, async () => {
    const place = { path: join(folder, 'a.db') }
    const task: SubmitTask = { place, times: 50, at: Date.now() + 1_000 }
    const ends = await Promise.all([program.start(task), program.start(task)])
    expect(ends.map(({ end, errors }) => [end, errors])).toEqual([
      [0, ''],
      [0, ''],
    ])
    const told = ends.flatMap(({ lines }) => lines)
    expect(told.flatMap(({ texts }) => texts)).toEqual(Array(100).fill('completed t once'))
    expect(told.reduce((sum, { modelCalls }) => sum + Number(modelCalls), 0)).toBe(1)
    const store = storeAt(place)
    const { entries } = await store.find({ kind: 'turn-start' })
    expect(entries.map(({ entry }) => entry.turnId)).toEqual(['t'])
    await store.close()
  })
})
