import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { cli } from './in-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-wrong-store-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const READING = [
  ['calls'],
  ['calls', 'follow'],
  ['artifact', 'head', 'last'],
  ['verify'],
  ['export', 'last'],
  ['gc'],
  ['recover'],
]

describe('a command that reads', () => {
  it.each(READING)('leaves a database of another program unchanged: %s %s', async (...command) => {
    const path = join(cwd, `${command.join('-')}.db`)
    const database = new Database(path)
    database.exec('CREATE TABLE users (id INTEGER)')
    database.close()
    const before = readFileSync(path)
    const { code, stdout, stderr } = await cli([...command, '--store', path], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('is not a store and was left unchanged: `bobbin run` makes one')
    expect(readFileSync(path)).toEqual(before)
  })

  it.each(READING)(
    'does not call a text damaged before it says that it is one: %s %s',
    async (...command) => {
      writeFileSync(join(cwd, 'diary.txt'), 'Dear diary, I am no database.\n'.repeat(50))
      const { code, stderr } = await cli([...command, '--store', 'diary.txt'], { cwd })
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /`[^`]*diary\.txt`: the file is not a database\. Name the file of a store,/,
      )
    },
  )

  it('treats an empty database as a store whose first write failed', async () => {
    writeFileSync(join(cwd, 'unborn.db'), '')
    const { code, stderr } = await cli(['verify', '--store', 'unborn.db'], { cwd })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'This store has no conversations.\n',
    })
  })

  it('names a folder that stands where a store should', async () => {
    mkdirSync(join(cwd, 'folder'))
    const { code, stderr } = await cli(['calls', '--store', 'folder'], { cwd })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'bobbin: `folder` is a folder, not a store: `bobbin run` makes one, or name another with --store.\n',
    })
  })
})

describe('a command that takes a file', () => {
  it.each([['lint'], ['convert', '--to', 'gemini'], ['import']])(
    'names a folder: %s',
    async (...command) => {
      mkdirSync(join(cwd, 'notes'), { recursive: true })
      const { code, stderr } = await cli([...command, 'notes'], { cwd })
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: 'bobbin: `notes` is a folder: name a file.\n',
      })
    },
  )
})

describe('bobbin verify', () => {
  it('says that there is nothing to verify, and counts it as a fault when a seal was kept', async () => {
    const store = sqliteStore(join(cwd, 'empty.db'))
    await store.conversations()
    await store.close()
    const verify = (...more: string[]) => cli(['verify', '--store', 'empty.db', ...more], { cwd })
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'This store has no conversations.\n',
    })
    expect(await verify('--seal', 'ab'.repeat(32))).toMatchObject({
      code: 1,
      stderr: 'bobbin: This store has no conversations: the sealed one was deleted.\n',
    })
  })
})
