import { describe, expect, it } from 'vitest'
import type { SpooledArtifact } from '../../src/artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../src/artifacts/spooled-json-artifact.ts'
import { SpooledMarkdownArtifact } from '../../src/artifacts/spooled-markdown-artifact.ts'
import { SpooledTableArtifact } from '../../src/artifacts/spooled-table-artifact.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import type { SpoolReader } from '../../src/spool/spool-reader.ts'
import { askArtifact } from '../ask-artifact.ts'
import { stalls } from '../stalls.ts'

const SIZE = 16 * 1024 * 1024
/** Scans end after five seconds, those of links after seven; the answer and its cursor come on top. */
const ANSWER_MS = 8_000
const STALL_MS = 50

type Question = readonly [name: string, args: object]
const fill = (piece: string, size = SIZE) => piece.repeat(Math.ceil(size / piece.length))
const listOf = (count: number, item: (i: number) => string, between = ',') =>
  Array.from({ length: count }, (_, i) => item(i)).join(between)

const JSON_QUESTIONS: readonly Question[] = [
  ['json_keys', {}],
  ['json_length', {}],
  ['json_get', { path: '[999999999]' }],
  ['json_slice', { start: 1e9 }],
  ['json_pluck', { fields: ['nested.score', 'id', 'a.b.c', '[450000]'] }],
  ['json_filter', { field: 'id', operator: 'equals', value: -1 }],
  ['json_filter', { field: 'list', operator: 'contains', value: 'nothing' }],
]
const user = (id: number) =>
  JSON.stringify({ id, name: `user ${id}`, list: ['a', 'b'], nested: { score: id / 4, é: '"' } })
const manyKeys = (k: number) => `{${listOf(90_000, (i) => `"${(i * 7_919 + k).toString(36)}":0`)}}`
const JSON_DOCUMENTS: Record<string, () => string> = {
  objects: () => `[${listOf(180_000, user)}]`,
  'NDJSON of objects': () => listOf(180_000, user, '\n'),
  'items of 1 MB with many keys': () => `[${listOf(16, manyKeys)}]`,
  'items of 1 MB of numbers': () => `[${listOf(16, () => `[${fill('0,', 990_000)}0]`)}]`,
  'items with a list of 1 MB': () => `[${listOf(16, () => `{"list":[${fill('"",', 950_000)}0]}`)}]`,
  'items nested 900 deep': () =>
    `[${listOf(SIZE / 2_048, () => '['.repeat(900) + ']'.repeat(900))}]`,
  'eight million numbers': () => `[${fill('1,')}1]`,
  'one string of escapes': () => `["${fill('\\u00e9')}"]`,
  'an object of a million keys': () => `{${listOf(1_000_000, (i) => `"k${i}":${i}`)}}`,
  'nothing but space': () => `[${' '.repeat(SIZE)}1]`,
}

const TABLE_QUESTIONS: readonly Question[] = [
  ['table_columns', {}],
  ['table_rows', { start: 5 }],
  ['table_rows', { start: 1e9 }],
  ['table_filter', { column: '0', operator: 'equals', value: 'nothing' }],
  ['table_count', {}],
  ['table_count', { column: '1' }],
  ['table_count', { column: 'no such column' }],
  ['table_rows', { limit: 2, columns: Array.from({ length: 100 }, (_, i) => String(i % 2)) }],
]
const TABLES: Record<string, () => string> = {
  rows: () => `id,name,zone\n${listOf(400_000, (i) => `${i},"user ${i}, x",z${i % 7}`, '\n')}`,
  'different values': () => `a,b\n${listOf(1_000_000, (i) => `${i},x${i}`, '\n')}`,
  'empty cells': () => fill(`${','.repeat(999)}\n`),
  'fifty thousand columns': () =>
    `${listOf(50_000, (i) => `c${i}`)}\n${fill(`${fill('1,', 1e5)}\n`)}`,
  'a million columns': () => fill(`${','.repeat(990_000)}\n`),
  'columns in quotes': () => fill(`${'"",'.repeat(330_000)}\n`),
  'short quoted cells': () => `a,b\n${fill('"""""",""\n')}`,
  'rows of 900 KB of quotes': () => `a,b\n${fill(`"${'""'.repeat(450_000)}",1\n`)}`,
  'blank lines': () => '\n'.repeat(SIZE),
}

const MARKDOWN_QUESTIONS: readonly Question[] = [
  ['markdown_headings', { depth: 1 }],
  ['markdown_section', { heading: 'no such heading' }],
  ['markdown_code_blocks', { language: 'none' }],
  ['markdown_links', {}],
]
const MARKDOWN: Record<string, () => string> = {
  prose: () => fill('# Title\n\nSome [link](http://x.y), `code`, https://a.b\n\n```js\nx\n```\n'),
  'opening brackets': () => fill(`${'['.repeat(4_096)}\n\n`, SIZE / 4),
  underscores: () => fill(`${`[${'_'.repeat(1_022)} `.repeat(4)}\n\n`, SIZE / 16),
  'runs of stars': () =>
    fill(`${`[${'*'.repeat(500)}a${'*'.repeat(500)} `.repeat(4)}\n\n`, SIZE / 16),
  'emphasis in emphasis': () => fill(`${`[${'_a_'.repeat(340)} `.repeat(4)}\n\n`, SIZE / 16),
  'unclosed images': () => fill(`${'![['.repeat(1_360)}\n\n`, SIZE / 4),
  'unclosed links': () => fill(`${'[a](b'.repeat(800)}\n\n`, SIZE / 4),
  'unclosed tags': () => fill(`${'<a x="'.repeat(600)}\n\n`, SIZE / 4),
  'one line': () => '['.repeat(SIZE),
  'one fence of short lines': () => `\`\`\`\n${fill('x\n')}`,
  definitions: () => listOf(400_000, (i) => `[l${i}]: http://x/${i}\n`, '\n'),
}

function hold(
  Class: new (reader: SpoolReader) => SpooledArtifact,
  documents: Record<string, () => string>,
  questions: readonly Question[],
): void {
  it.each(Object.keys(documents))(
    'keeps the event loop turning over %s',
    { timeout: 180_000 },
    async (name) => {
      const artifact = new Class(await memorySpool().write(documents[name]?.() ?? ''))
      for (const [question, args] of questions) {
        // The first time, code is compiled on the way; a process that asks twice has that behind it.
        if (name === Object.keys(documents)[0]) await askArtifact(artifact, question, args)
        const { result, took, stall } = await stalls(() => askArtifact(artifact, question, args))
        const about = { question, args }
        expect(result.length).toBeLessThan(20_500)
        expect({ ...about, took: took < ANSWER_MS || took }).toEqual({ ...about, took: true })
        expect({ ...about, stall: stall < STALL_MS || stall }).toEqual({ ...about, stall: true })
      }
    },
  )
}

describe('a question about 16 MB of JSON', () => {
  hold(SpooledJsonArtifact, JSON_DOCUMENTS, JSON_QUESTIONS)
})

describe('a question about a table of 16 MB', () => {
  hold(SpooledTableArtifact, TABLES, TABLE_QUESTIONS)
})

describe('a question about Markdown', () => {
  hold(SpooledMarkdownArtifact, MARKDOWN, MARKDOWN_QUESTIONS)
})
