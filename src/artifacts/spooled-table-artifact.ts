import { brief } from '../core/error/cut-text.ts'
import { BobbinError } from '../core/error/error.ts'
import { requireNumber, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { loadAnswers } from './load-answers.ts'
import { type ItemPosition, itemCursor, readItemCursor } from './query/cursor.ts'
import {
  type FilterOperand,
  type FilterOperator,
  requireCondition,
  satisfies,
} from './query/json-filter.ts'
import type { Query } from './query/query.ts'
import type { Steps } from './query/steps.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import type { CsvRow } from './table/csv-scanner.ts'
import type { RowScan } from './table/csv-table.ts'
import type {
  GroupCounts,
  RowRange,
  RowsEnd,
  TableCondition,
  TableRow,
} from './table/table-types.ts'
import { tableQueries } from './table-queries.ts'

const MAX_ROWS = 10_000
/** Distinct values that a count holds; rows with further ones are counted together. */
const MAX_GROUPS = 10_000
const MAX_GROUP_CHARS = 200
const PREVIEW_COLUMNS = 40
/** More than an error has room for. */
const SHOWN_COLUMNS = 1_000

/** A table as CSV, TSV or the like: its first row names the columns, its delimiter is detected. */
export class SpooledTableArtifact extends SpooledArtifact {
  static override readonly kind: string = 'table'
  static override readonly queries: readonly Query[] = tableQueries

  /** The names in the first row. */
  async columns(): Promise<string[]> {
    const { scanRows } = await loadAnswers()
    let columns: string[] = []
    await scanRows(this.reader, {}, function* (row) {
      columns = yield* row.cells()
      return 'stop'
    })
    return columns
  }

  /** Rows `start` to before `end`, counted from 0 after the header, at most 10,000. */
  async rows(start = 0, end = Number.POSITIVE_INFINITY): Promise<string[][]> {
    requireNumber('artifact.rows', 'start', start)
    requireNumber('artifact.rows', 'end', end)
    return this.#collect({ start, end }, () => true)
  }

  /** How many rows follow the header. */
  async rowCount(options: Pick<RowScan, 'signal'> = {}): Promise<number> {
    requireOptions('artifact.rowCount', options)
    const { scanRows } = await loadAnswers()
    let last = 0
    await scanRows(this.reader, options, ({ index }) => {
      last = index
      return 'continue'
    })
    return last
  }

  /** The first 10,000 rows that satisfy a condition. */
  async filter(
    condition: TableCondition,
    range: { start?: number; end?: number } = {},
  ): Promise<string[][]> {
    requireOptions('artifact.filter', range)
    const { start = 0, end = Number.POSITIVE_INFINITY } = range
    return this.#collect({ start, end }, await this.condition(condition))
  }

  /** How often each value of a column occurs. */
  async countBy(column: string, options: Pick<RowScan, 'signal'> = {}): Promise<GroupCounts> {
    requireOptions('artifact.countBy', options)
    const position = await this.columnPosition(column)
    const counts = new Map<string, number>()
    let otherRows = 0
    let rows = 0
    await this.walk({ start: 0, end: Number.POSITIVE_INFINITY, ...options }, ({ cells }) => {
      const value = brief(cells[position] ?? '', MAX_GROUP_CHARS)
      const count = counts.get(value)
      rows++
      if (count !== undefined) counts.set(value, count + 1)
      else if (counts.size < MAX_GROUPS) counts.set(value, 1)
      else otherRows++
      return 'taken'
    })
    const groups = [...counts].map(([value, count]) => ({ value, count }))
    groups.sort((a, b) => b.count - a.count)
    return { groups, otherRows, rows }
  }

  /** Visits rows and returns a cursor to continue; queries of subclasses use it. */
  async walk(
    { start, end, cursor, ...range }: RowRange,
    take: (row: TableRow) => 'taken' | 'passed' | 'full',
  ): Promise<RowsEnd> {
    const { dialectOf, scanRows } = await loadAnswers()
    const dialect = await dialectOf(this.reader)
    const after = cursor ? { after: readItemCursor(cursor, this.digest) } : {}
    const scan = { ...range, ...after }
    let behind: ItemPosition = scan.after ?? { index: 0, byte: dialect.byte }
    let isFull = false
    const first = Math.max(0, start)
    const ended = await scanRows(this.reader, scan, (row) => {
      const index = row.index - 1
      const next = { index: row.index + 1, byte: row.end }
      // Written this way, `NaN` gives an empty range.
      if (!(index < end)) return 'stop'
      if (index >= first) return taking(row, next)
      behind = next
      return 'continue'
    })
    function* taking(row: CsvRow, next: ItemPosition): Steps<'continue' | 'stop'> {
      isFull = take({ index: row.index - 1, cells: yield* row.cells() }) === 'full'
      if (isFull) return 'stop'
      behind = next
      return 'continue'
    }
    const outOfTime = ended === 'time'
    const next = isFull || outOfTime ? behind : undefined
    return {
      next,
      outOfTime,
      seen: Math.max(0, behind.index - 1),
      ...(next && { cursor: itemCursor(next, this.digest) }),
    }
  }

  /** A test for rows; `E_INVALID_PATH` with the columns there are when there is no such column. */
  async condition(condition: TableCondition): Promise<(row: TableRow) => boolean> {
    requireCondition('column', condition)
    const { column, operator, value } = condition
    const position = await this.columnPosition(column)
    return ({ cells }) => {
      const cell = cells[position] ?? ''
      const [left, right] = comparable(cell, operator, value)
      return satisfies(left, operator, right)
    }
  }

  /** Where a column is: by its name, or by its position from 0; `known` are the columns, once they were read. */
  async columnPosition(column: string, known?: readonly string[]): Promise<number> {
    if (typeof column !== 'string') {
      const rule = "must be a string: a column's name, or its position from `'0'` on"
      throw wrongInput('artifact', 'column', rule)
    }
    const columns = known ?? (await this.columns())
    const named = columns.indexOf(column)
    if (named !== -1) return named
    const numbered = /^\d{1,9}$/.test(column) ? Number(column) : Number.NaN
    if (numbered < columns.length) return numbered
    const first = columns.slice(0, SHOWN_COLUMNS).map((name) => brief(name, 60))
    const names = brief(first.join(', '), 2_000)
    const message = `There is no column \`${brief(column, 60)}\`. The columns are: ${names}.`
    throw new BobbinError('E_INVALID_PATH', message, { path: brief(column, 60) })
  }

  /** The columns. */
  override async preview(): Promise<string | undefined> {
    const columns = await this.columns()
    const shown = columns.slice(0, PREVIEW_COLUMNS).map((name) => brief(name, 40))
    const hidden = columns.length - shown.length
    return `a table with ${columns.length} columns: ${shown.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`
  }

  async #collect(
    range: { readonly start: number; readonly end: number },
    fits: (row: TableRow) => boolean,
  ): Promise<string[][]> {
    const rows: string[][] = []
    await this.walk(range, (row) => {
      if (!fits(row)) return 'passed'
      if (rows.length === MAX_ROWS) return 'full'
      rows.push([...row.cells])
      return 'taken'
    })
    return rows
  }
}

/** Cells are text: they count as numbers where both sides are, and as absent where empty. */
function comparable(
  cell: string,
  operator: FilterOperator,
  operand: FilterOperand,
): readonly [string | number | undefined, FilterOperand] {
  if (operator === 'exists' || operator === 'missing')
    return [cell === '' ? undefined : cell, operand]
  const isOrder = operator === 'greater' || operator === 'less'
  if (typeof operand === 'number' || (isOrder && isNumeric(String(operand)))) {
    return [isNumeric(cell) ? Number(cell) : cell, Number(operand)]
  }
  return [cell, operand === null || operand === undefined ? '' : String(operand)]
}

const isNumeric = (text: string) => text.trim() !== '' && Number.isFinite(Number(text))
