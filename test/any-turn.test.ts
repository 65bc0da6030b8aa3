import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { holdFor } from './any-turn/hold.ts'
import { anyProgram, calmProgram } from './any-turn/program.ts'

const TIMEOUT = 120_000

describe('any program of turns', () => {
  it('comes to what the reference model says where nothing comes between', {
    timeout: TIMEOUT,
  }, async () => {
    await holdFor(calmProgram, 12, (clock) => memoryStore({ clock }))
  })

  it('keeps every promise in memory, whatever comes between', { timeout: TIMEOUT }, async () => {
    await holdFor(anyProgram, 20, (clock) => memoryStore({ clock }))
  })

  it('keeps every promise on disk, whatever comes between', { timeout: TIMEOUT }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-any-turn-'))
    try {
      await holdFor(anyProgram, 5, (clock) => sqliteStore(join(folder, 'agent.db'), { clock }))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
