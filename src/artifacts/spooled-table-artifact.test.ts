import { describe, expect, it } from 'vitest'
import { askArtifact as ask } from '../../test/ask-artifact.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { SpooledTableArtifact } from './spooled-table-artifact.ts'

const spool = memorySpool()
const table = async (text: string) => new SpooledTableArtifact(await spool.write(text))

const orders = [
  'id,customer,total,note',
  ...Array.from({ length: 1_000 }, (_, i) => `${i},"c, ${i % 5}",${i * 1.5},"line\none ""${i}"""`),
].join('\n')

describe('SpooledTableArtifact', () => {
  it('gives columns, rows, filtered rows and counts', async () => {
    const artifact = await table(orders)
    expect(await artifact.columns()).toEqual(['id', 'customer', 'total', 'note'])
    expect(await artifact.rowCount()).toBe(1_000)
    expect(await artifact.rows(998)).toEqual([
      ['998', 'c, 3', '1497', 'line\none "998"'],
      ['999', 'c, 4', '1498.5', 'line\none "999"'],
    ])
    const expensive = { column: 'total', operator: 'greater', value: 1_497 } as const
    expect((await artifact.filter(expensive)).map(([id]) => id)).toEqual(['999'])
    expect(await artifact.countBy('customer')).toEqual({
      groups: [0, 1, 2, 3, 4].map((c) => ({ value: `c, ${c}`, count: 200 })),
      otherRows: 0,
      rows: 1_000,
    })
    expect(await artifact.preview()).toBe('a table with 4 columns: id, customer, total, note')
  })

  it('detects the delimiter, also behind a byte order mark', async () => {
    expect(await (await table('a\tb\n1,5\t2')).rows()).toEqual([['1,5', '2']])
    expect(await (await table('\ufeffa;b;c\n1,2;3;4')).columns()).toEqual(['a', 'b', 'c'])
    expect(await (await table('a|b\r\n"x|y"|z\r\n')).rows()).toEqual([['x|y', 'z']])
    expect(await (await table('single\nvalue')).rows()).toEqual([['value']])
    expect(await (await table('')).columns()).toEqual([])
    expect(await (await table('')).rowCount()).toBe(0)
  })

  it('names the columns there are when asked for another', async () => {
    const artifact = await table(orders)
    await expect(artifact.countBy('price')).rejects.toThrow(
      'There is no column `price`. The columns are: id, customer, total, note.',
    )
    expect((await artifact.countBy('1')).groups).toHaveLength(5)
  })

  it('takes columns such as `__proto__` as data', async () => {
    const artifact = await table('__proto__,constructor\na,b\na,c')
    expect((await artifact.countBy('__proto__')).groups).toEqual([{ value: 'a', count: 2 }])
    await expect(artifact.countBy('toString')).rejects.toThrow('no column')
  })

  it('finds the first of two columns by their name, and the other by its position', async () => {
    const artifact = await table('a,a,1\nx,y,z\nx,w,z')
    expect((await artifact.countBy('a')).groups).toEqual([{ value: 'x', count: 2 }])
    expect(await artifact.filter({ column: '1', operator: 'equals', value: 'z' })).toHaveLength(2)
    expect(await artifact.columnPosition('0')).toBe(0)
  })

  it('takes ragged rows as they are: what is not there is empty', async () => {
    const artifact = await table('a,b\n1\n1,2,3\n\n,\n')
    expect(await artifact.rows()).toEqual([['1'], ['1', '2', '3'], ['', '']])
    expect(await artifact.filter({ column: 'b', operator: 'missing' })).toEqual([['1'], ['', '']])
  })

  it('gives rows of a hundred kilobytes among short ones, in order and once', async () => {
    const wide = Array.from({ length: 20_000 }, (_, i) => (i % 3 ? String(i) : `"${i},"`)).join(',')
    const lines = Array.from({ length: 12 }, (_, i) => (i % 4 === 1 ? `${i},${wide}` : `${i},x`))
    const artifact = await table(`id,rest\n${lines.join('\n')}`)
    const ids = Array.from({ length: 12 }, (_, i) => String(i))
    expect((await artifact.rows()).map(([id]) => id)).toEqual(ids)
    expect((await artifact.rows(5, 6))[0]).toHaveLength(20_001)
    expect((await artifact.rows(5, 6))[0]?.slice(0, 3)).toEqual(['5', '0,', '1'])
    expect((await artifact.countBy('id')).rows).toBe(12)
    const seen: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 20; pages++) {
      const answer = await ask(artifact, 'table_rows', { columns: ['id'], limit: 1, cursor })
      seen.push(...answer.split('\n').flatMap((row) => /^\d+: (\d+)$/.exec(row)?.[1] ?? []))
      cursor = /cursor "([^"]+)"/.exec(answer)?.[1]
      if (cursor === undefined) break
    }
    expect(seen).toEqual(ids)
  })

  it('gives nothing for a range that is no number, or behind the end', async () => {
    const artifact = await table(orders)
    expect(await artifact.rows(0, Number.NaN)).toEqual([])
    expect(await artifact.rows(Number.NaN)).toEqual([])
    expect(await artifact.rows(1e300)).toEqual([])
    expect(await artifact.rows(5, -1)).toEqual([])
    expect(await artifact.rows(-5, 1)).toHaveLength(1)
  })

  it('bounds the groups that it holds', async () => {
    const rows = Array.from({ length: 10_050 }, (_, i) => `v${i}`).join('\n')
    const { groups, otherRows } = await (await table(`name\n${rows}`)).countBy('name')
    expect([groups.length, otherRows]).toEqual([10_000, 50])
  })
})

describe('forged table tools', () => {
  it('page through rows by cursor', async () => {
    const artifact = await table(orders)
    const ids: string[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 60; pages++) {
      const answer = await ask(artifact, 'table_rows', { columns: ['id'], limit: 90, cursor })
      ids.push(...answer.split('\n').flatMap((row) => /^\d+: (\d+)$/.exec(row)?.[1] ?? []))
      cursor = /cursor "([^"]+)"/.exec(answer)?.[1]
      if (cursor === undefined) break
    }
    expect(ids).toEqual(Array.from({ length: 1_000 }, (_, i) => String(i)))
  })

  it('answer in words that a model can act on', async () => {
    const artifact = await table(orders)
    expect(await ask(artifact, 'table_columns')).toBe('0: id\n1: customer\n2: total\n3: note')
    expect(await ask(artifact, 'table_rows', { limit: 1 })).toBe(
      'columns: id | customer | total | note\n0: 0 | c, 0 | 0 | line\\none "0"\n[left out: rows from 1 on; to continue, call again with cursor "item:2@51#c76d1587"]',
    )
    const where = { column: 'id', operator: 'equals', value: '7', columns: ['total'] }
    expect(await ask(artifact, 'table_filter', where)).toBe('columns: total\n7: 10.5')
    expect(await ask(artifact, 'table_filter', { ...where, value: -1 })).toContain(
      '(no rows; 1000 were looked at)',
    )
    expect(await ask(artifact, 'table_count')).toBe('1000 rows')
    expect(await ask(artifact, 'table_count', { column: 'customer', limit: 2 })).toBe(
      '200: c, 0\n200: c, 1\n[left out: 600 of 1000 rows, with 3 other values]',
    )
    expect(await ask(artifact, 'table_count', { column: 'x' })).toMatch(
      /^Error: There is no column/,
    )
  })

  it('show all columns where a model names none', async () => {
    const artifact = await table('a,b\n1,2\n')
    for (const columns of [undefined, null, []]) {
      expect(await ask(artifact, 'table_rows', { columns })).toBe('columns: a | b\n0: 1 | 2')
    }
  })

  it('stay bounded on wide rows and many columns', async () => {
    const names = Array.from({ length: 5_000 }, (_, i) => `column ${i}`).join(',')
    const artifact = await table(`${names}\n${'x'.repeat(900_000)}\n`)
    for (const name of ['table_columns', 'table_rows']) {
      expect((await ask(artifact, name)).length).toBeLessThan(20_500)
    }
  })
})
