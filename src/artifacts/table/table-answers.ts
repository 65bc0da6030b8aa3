import { brief } from '../../core/error/cut-text.ts'
import { pacer } from '../../spool/event-loop.ts'
import { ANSWER_CHARS, SCAN_MS } from '../query/answer-limits.ts'
import { fitRows } from '../query/fit-rows.ts'
import type { FilterOperand, FilterOperator } from '../query/json-filter.ts'
import type { QueryAnswer, QueryContext } from '../query/query.ts'
import type { RowScan } from './csv-table.ts'
import type { GroupCounts, RowRange, RowsEnd, TableCondition, TableRow } from './table-types.ts'

/** What the queries on tables need of an artifact. */
export interface QueryableTable {
  columns(): Promise<string[]>
  rowCount(options?: Pick<RowScan, 'signal'>): Promise<number>
  countBy(column: string, options?: Pick<RowScan, 'signal'>): Promise<GroupCounts>
  columnPosition(column: string, columns?: readonly string[]): Promise<number>
  condition(condition: TableCondition): Promise<(row: TableRow) => boolean>
  walk(range: RowRange, take: (row: TableRow) => 'taken' | 'passed' | 'full'): Promise<RowsEnd>
}

const CELL_CHARS = 300
const LINE_CHARS = ANSWER_CHARS / 2

interface ListArguments {
  readonly start: number
  readonly limit: number
  readonly columns: readonly string[] | undefined
  readonly cursor: string | undefined
}

interface FilterArguments extends ListArguments {
  readonly column: string
  readonly operator: FilterOperator
  readonly value: FilterOperand
}

interface CountArguments {
  readonly column: string | undefined
  readonly limit: number
}

/** Lists the columns with their positions. */
export async function listColumns(table: QueryableTable): Promise<QueryAnswer> {
  const names = await table.columns()
  return fitRows(names, 'columns', (name, position) => `${position}: ${cell(name)}`)
}

/** Lists rows by position. */
export function sliceRows(table: QueryableTable, args: ListArguments, context: QueryContext) {
  return listRows(table, args, context, () => true)
}

/** Lists the rows that satisfy a condition. */
export async function filterRows(
  table: QueryableTable,
  args: FilterArguments,
  context: QueryContext,
): Promise<QueryAnswer> {
  const { column, operator, value } = args
  const fits = await table.condition({ column, operator, ...(value !== undefined && { value }) })
  return listRows(table, args, context, fits)
}

/** Counts the rows, or how often each value of a column occurs. */
export async function countRows(
  table: QueryableTable,
  { column, limit }: CountArguments,
  { signal }: QueryContext,
): Promise<QueryAnswer | string> {
  if (column === undefined) return `${await table.rowCount({ signal })} rows`
  const { groups, otherRows, rows: total } = await table.countBy(column, { signal })
  const shown = groups.slice(0, limit)
  const hidden = groups.slice(limit).reduce((sum, group) => sum + group.count, otherRows)
  const answer = fitRows(shown, 'values', ({ count, value }) => `${count}: ${cell(value)}`)
  if (hidden === 0) return answer
  const values = groups.length - shown.length
  const leftOut = `${hidden} of ${total} rows, with ${otherRows > 0 ? 'at least ' : ''}${values} other values`
  return { ...answer, leftOut: answer.leftOut ? `${answer.leftOut}; ${leftOut}` : leftOut }
}

async function listRows(
  table: QueryableTable,
  { start, limit, columns: listed, cursor }: ListArguments,
  { signal }: QueryContext,
  fits: (row: TableRow) => boolean,
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
  const scan = { start, end: Number.POSITIVE_INFINITY, maxMs: SCAN_MS / 2, signal, cursor }
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
