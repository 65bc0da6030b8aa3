import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { fileSpool } from '../../src/stores/fs/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { holdFor } from '../any-turn/hold.ts'
import { anyProgram, calmProgram } from '../any-turn/program.ts'
import { type EmbeddedServer, embeddedServer } from '../postgres/embedded-server.ts'

let folder = ''
let server: EmbeddedServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-any-turn-'))
  server = await embeddedServer()
})
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true })
})

describe('any program of turns', () => {
  it('comes to what the reference model says where nothing comes between', async () => {
    await holdFor(calmProgram, 250, (clock) => memoryStore({ clock }))
  })

  it('keeps every promise in memory, whatever comes between', async () => {
    await holdFor(anyProgram, 300, (clock) => memoryStore({ clock }))
  })

  it('keeps every promise in SQLite, whatever comes between', async () => {
    await holdFor(anyProgram, 100, (clock) => sqliteStore(join(folder, 'agent.db'), { clock }))
  })

  it('keeps every promise in PostgreSQL, whatever comes between', async () => {
    const spool = fileSpool(join(folder, 'spool'))
    const { url } = server
    await holdFor(anyProgram, 60, (clock) => postgresStore({ url, spool, connections: 4, clock }))
  })
})
