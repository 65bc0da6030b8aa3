import { brief } from '../core/cut-text.ts'
import { pacer } from '../spool/event-loop.ts'
import { ANSWER_CHARS, SCAN_MS } from './answer-limits.ts'
import type { RowScan } from './csv-table.ts'
import { FILTER_OPERATORS, type FilterOperand, type FilterOperator } from './json-filter.ts'
import { CURSOR, type Query, type QueryAnswer, type QueryContext, query } from './query.ts'

interface Row {
  readonly index: number
  readonly cells: readonly string[]
}

/** What the queries on tables need of an artifact. */
interface QueryableTable {
  columns(): Promise<string[]>
  rowCount(options?: Pick<RowScan, 'signal'>): Promise<number>
  countBy(
    column: string,
    options?: Pick<RowScan, 'signal'>,
  ): Promise<{
    readonly groups: readonly { readonly value: string; readonly count: number }[]
    readonly otherRows: number
    readonly rows: number
  }>
  columnPosition(column: string, columns?: readonly string[]): Promise<number>
  condition(condition: {
    readonly column: string
    readonly operator: FilterOperator
    readonly value?: FilterOperand
  }): Promise<(row: Row) => boolean>
  walk(
    range: RowScan & {
      readonly start: number
      readonly end: number
      readonly cursor?: string | undefined
    },
    take: (row: Row) => 'taken' | 'passed' | 'full',
  ): Promise<{
    readonly next: { readonly index: number; readonly byte: number } | undefined
    readonly outOfTime: boolean
    readonly seen: number
    readonly cursor?: string
  }>
}

const CELL_CHARS = 300
const LINE_CHARS = ANSWER_CHARS / 2

const COLUMN = {
  type: 'string',
  description: 'The name of a column, or its position from 0',
  maxLength: 1_000,
} as const

const SHOWN_COLUMNS = {
  type: 'strings',
  description: 'Which columns to show; all when left out',
  maxItems: 100,
  optional: true,
} as const

const START = {
  type: 'integer',
  description: 'The first row, counted from 0 behind the header',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 0,
} as const

const LIMIT = {
  type: 'integer',
  description: 'How many rows to show',
  minimum: 1,
  maximum: 500,
  default: 50,
} as const

const columns = query({
  name: 'table_columns',
  description: 'Lists the columns of a table with their positions.',
  parameters: {},
  async run(table: QueryableTable) {
    const names = await table.columns()
    return fit(names, (name, position) => `${position}: ${cell(name)}`, 'columns')
  },
})

const rows = query({
  name: 'table_rows',
  description: 'Shows rows of a table by position, each with its number.',
  parameters: { start: START, limit: LIMIT, columns: SHOWN_COLUMNS, cursor: CURSOR },
  run: (table: QueryableTable, args, context) => listRows(table, args, context, () => true),
})

const filter = query({
  name: 'table_filter',
  description: 'Finds the rows whose cell in one column satisfies a condition.',
  parameters: {
    column: COLUMN,
    operator: { type: 'string', description: 'How to compare', enum: FILTER_OPERATORS },
    value: { type: 'scalar', description: 'What to compare with', optional: true },
    start: START,
    limit: LIMIT,
    columns: SHOWN_COLUMNS,
    cursor: CURSOR,
  },
  async run(table: QueryableTable, args, context) {
    const { column, operator, value } = args
    const fits = await table.condition({ column, operator, ...(value !== undefined && { value }) })
    return listRows(table, args, context, fits)
  },
})

const count = query({
  name: 'table_count',
  description: 'Counts the rows, or with a column how often each of its values occurs.',
  parameters: {
    column: { ...COLUMN, optional: true },
    limit: { ...LIMIT, description: 'How many values to show, the most frequent first' },
  },
  async run(table: QueryableTable, { column, limit }, { signal }) {
    if (column === undefined) return `${await table.rowCount({ signal })} rows`
    const { groups, otherRows, rows: total } = await table.countBy(column, { signal })
    const shown = groups.slice(0, limit)
    const hidden = groups.slice(limit).reduce((sum, group) => sum + group.count, otherRows)
    const answer = fit(shown, (group) => `${group.count}: ${cell(group.value)}`, 'values')
    if (hidden === 0) return answer
    const values = groups.length - shown.length
    const leftOut = `${hidden} of ${total} rows, with ${otherRows > 0 ? 'at least ' : ''}${values} other values`
    return { ...answer, leftOut: answer.leftOut ? `${answer.leftOut}; ${leftOut}` : leftOut }
  },
})

/** The queries that tables answer beside those on text. */
export const tableQueries: readonly Query[] = [columns, rows, filter, count]

interface ListArguments {
  readonly start: number
  readonly limit: number
  readonly columns: readonly string[] | undefined
  readonly cursor: string | undefined
}

async function listRows(
  table: QueryableTable,
  { start, limit, columns: listed, cursor }: ListArguments,
  { signal }: QueryContext,
  fits: (row: Row) => boolean,
): Promise<QueryAnswer> {
  const names = await table.columns()
  // Models send an empty list for what they mean to leave out.
  const wanted = listed?.length === 0 ? undefined : listed
  const positions: number[] = []
  const pace = pacer()
  // One after another and in the names at hand: of a million columns each look takes milliseconds.
  for (const column of wanted ?? []) {
    positions.push(await table.columnPosition(column, names))
    await pace()
  }
  const pick = (cells: readonly string[]) =>
    wanted === undefined ? cells : positions.map((position) => cells[position] ?? '')
  const shown = [`columns: ${line(pick(names))}`]
  let left = ANSWER_CHARS - (shown[0]?.length ?? 0)
  const scan = {
    start,
    end: Number.POSITIVE_INFINITY,
    maxMs: SCAN_MS / 2,
    signal,
    cursor,
  }
  const end = await table.walk(scan, (row) => {
    if (!fits(row)) return 'passed'
    if (shown.length > limit) return 'full'
    const text = `${row.index}: ${line(pick(row.cells))}`
    if (text.length + 1 > left && shown.length > 1) return 'full'
    left -= text.length + 1
    shown.push(text)
    return 'taken'
  })
  if (shown.length === 1) shown.push(`(no rows; ${end.seen} were looked at)`)
  const text = shown.join('\n')
  if (end.next === undefined) return { text }
  const why = end.outOfTime ? ', because time was up' : ''
  const leftOut = `rows from ${Math.max(0, end.next.index - 1)} on${why}`
  return { text, leftOut, ...(end.cursor && { cursor: end.cursor }) }
}

/** One row on one line: cells are cut, and line ends in them are shown escaped. */
function line(cells: readonly string[]): string {
  let text = ''
  for (const [position, each] of cells.entries()) {
    text += position === 0 ? cell(each) : ` | ${cell(each)}`
    if (text.length > LINE_CHARS) break
  }
  return brief(text, LINE_CHARS)
}
const cell = (text: string) =>
  brief(text, CELL_CHARS).replaceAll('\r', '\\r').replaceAll('\n', '\\n')

/** Rows as far as an answer goes; what does not fit is not even put into words. */
function fit<T>(
  all: readonly T[],
  show: (each: T, position: number) => string,
  what: string,
): QueryAnswer {
  const shown: string[] = []
  let left = ANSWER_CHARS
  for (const [position, each] of all.entries()) {
    const row = show(each, position)
    left -= row.length + 1
    if (left < 0) break
    shown.push(row)
  }
  const hidden = all.length - shown.length
  const text = shown.join('\n') || `(no ${what})`
  return hidden === 0 ? { text } : { text, leftOut: `${hidden} more ${what}` }
}
