import { describe, expect, it } from 'vitest'
import { askArtifact as ask } from '../../test/ask-artifact.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { SpooledArtifact } from './spooled-artifact.ts'
import { SpooledJsonArtifact } from './spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from './spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from './spooled-table-artifact.ts'

const spool = memorySpool()
const json = async (text: string) => new SpooledJsonArtifact(await spool.write(text))
const table = async (text: string) => new SpooledTableArtifact(await spool.write(text))
const REFUSED = /^Error: `.*` is not a cursor of this query/

async function cursorOf(artifact: SpooledArtifact, name: string, args: object): Promise<string> {
  const cursor = /cursor "([^"]+)"/.exec(await ask(artifact, name, args))?.[1]
  if (cursor === undefined) throw new Error(`artifact_${name} gave no cursor`)
  return cursor
}

/** The cursor with each of its characters replaced once. */
const alterations = (cursor: string) =>
  Array.from(cursor, (char, at) => {
    const other = /\d/.test(char) ? String((Number(char) + 1) % 10) : char === 'a' ? 'b' : 'a'
    return cursor.slice(0, at) + other + cursor.slice(at + 1)
  })

const ORDERS = '[1,2,3,4,5,6,7,8]'
const DOCUMENT = `{"orders":${ORDERS},"users":["a","b,{\\"c\\"","d","e"]}`

describe('a cursor of JSON', () => {
  it('goes on in any query about the same items', async () => {
    const artifact = await json(DOCUMENT)
    const cursor = await cursorOf(artifact, 'json_slice', { path: 'users', limit: 2 })
    const filter = { field: '', operator: 'exists', path: '/users', cursor }
    expect(await ask(artifact, 'json_filter', filter)).toBe('2: "d"\n3: "e"')
    expect(await ask(artifact, 'json_slice', { path: 'users', cursor })).toBe('2: "d"\n3: "e"')
  })

  it('is refused where other items are asked for', async () => {
    const artifact = await json(DOCUMENT)
    const cursor = await cursorOf(artifact, 'json_slice', { path: 'orders', limit: 2 })
    expect(await ask(artifact, 'json_slice', { path: 'users', cursor })).toMatch(REFUSED)
    expect(await ask(artifact, 'json_slice', { cursor })).toMatch(REFUSED)
    const other = await json(DOCUMENT.replace('8', '9'))
    expect(await ask(other, 'json_slice', { path: 'orders', cursor })).toMatch(REFUSED)
    const lines = await json('1\n2\n3\n')
    expect(await ask(lines, 'json_slice', { cursor })).toMatch(REFUSED)
  })

  it('is refused when it is not as it was given, and never takes sound JSON for broken', async () => {
    const artifact = await json(ORDERS)
    const cursor = await cursorOf(artifact, 'json_slice', { limit: 2 })
    for (const altered of [...alterations(cursor), `${cursor}0`, 'item:2@99999', 'item:2@4']) {
      expect(await ask(artifact, 'json_slice', { cursor: altered })).toMatch(REFUSED)
    }
  })
})

describe('a cursor of a table', () => {
  const ROWS = 'a,b\n1,"x,\ny"\n2,z\n3,w\n'

  it('goes on in any query about the same rows', async () => {
    const artifact = await table(ROWS)
    const cursor = await cursorOf(artifact, 'table_rows', { limit: 1 })
    const filter = { column: 'b', operator: 'exists', columns: ['a'], cursor }
    expect(await ask(artifact, 'table_filter', filter)).toBe('columns: a\n1: 2\n2: 3')
  })

  it('is refused by another table, and when it is not as it was given', async () => {
    const artifact = await table(ROWS)
    const cursor = await cursorOf(artifact, 'table_rows', { limit: 1 })
    expect(await ask(await table(`${ROWS}4,v\n`), 'table_rows', { cursor })).toMatch(REFUSED)
    for (const altered of [...alterations(cursor), 'item:2@99999', 'item:2@10', 'item:1@0']) {
      expect(await ask(artifact, 'table_rows', { cursor: altered })).toMatch(REFUSED)
    }
  })
})

describe('a cursor of Markdown', () => {
  it('is refused where it could begin inside a fence', async () => {
    const text = `${'# a\n'.repeat(2_000)}\`\`\`\n${'# code\n'.repeat(20)}\`\`\`\n`
    const artifact = new SpooledMarkdownArtifact(await spool.write(text))
    const cursor = await cursorOf(artifact, 'markdown_headings', {})
    expect(await ask(artifact, 'markdown_headings', { cursor })).toMatch(/^500: # a\n/)
    for (const altered of ['line:2005', cursor.replace('500', '2005')]) {
      expect(await ask(artifact, 'markdown_headings', { cursor: altered })).toMatch(REFUSED)
    }
    const other = new SpooledMarkdownArtifact(await spool.write(`${text}\n`))
    expect(await ask(other, 'markdown_headings', { cursor })).toMatch(REFUSED)
  })
})

describe('a cursor of lines', () => {
  it('is a place in any text: behind its end there is nothing', async () => {
    const artifact = await json('one\ntwo\n')
    expect(await ask(artifact, 'cat', { cursor: 'line:1+1' })).toBe('1: [1 bytes before] wo')
    expect(await ask(artifact, 'cat', { cursor: 'line:1+99' })).toBe('1: [3 bytes before] ')
    expect(await ask(artifact, 'cat', { cursor: 'line:999999999999999' })).toBe(
      '(no lines: the artifact has 2, counted from 0)',
    )
    expect(await ask(artifact, 'grep', { pattern: 'o', cursor: '999999999999999' })).toBe(
      '(no match)',
    )
    expect(await ask(artifact, 'grep', { pattern: 'o', cursor: 'line:1' })).toMatch(/^Error: /)
  })
})
