import { brief } from '../core/cut-text.ts'
import { BobbinError } from '../core/error.ts'
import { requireNumber, requireOptions, wrongInput } from '../core/wrong-input.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import type { CsvRow } from './csv-scanner.ts'
import { type CsvDialect, detectDialect, type RowScan, scanRows } from './csv-table.ts'
import { type ItemPosition, itemCursor, readItemCursor } from './cursor.ts'
import {
  type FilterOperand,
  type FilterOperator,
  requireCondition,
  satisfies,
} from './json-filter.ts'
import type { Query } from './query.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import type { Steps } from './steps.ts'
import { tableQueries } from './table-queries.ts'

const MAX_ROWS = 10_000
/** Distinct values that a count holds; rows with further ones are counted together. */
const MAX_GROUPS = 10_000
const MAX_GROUP_CHARS = 200
const PREVIEW_COLUMNS = 40
/** More than an error has room for. */
const SHOWN_COLUMNS = 1_000

/** A condition on one column. */
export interface TableCondition {
  readonly column: string
  readonly operator: FilterOperator
  readonly value?: FilterOperand
}

/** How often the values of a column occur. */
export interface GroupCounts {
  /** Most frequent first. */
  readonly groups: readonly { readonly value: string; readonly count: number }[]
  /** Rows whose value came after the first ten thousand distinct ones. */
  readonly otherRows: number
  readonly rows: number
}

/** A row of the table; the header is not counted. */
export interface TableRow {
  readonly index: number
  readonly cells: readonly string[]
}

/** Where a walk over rows ended, and where to go on unless there is nothing more. */
export interface RowsEnd {
  readonly next: ItemPosition | undefined
  readonly outOfTime: boolean
  readonly seen: number
  readonly cursor?: string
}

/** A table as CSV, TSV or the like: its first row names the columns, its delimiter is detected. */
export class SpooledTableArtifact extends SpooledArtifact {
  static override readonly kind: string = 'table'
  static override readonly queries: readonly Query[] = tableQueries

  /** The names in the first row. */
  async columns(): Promise<string[]> {
    let columns: string[] = []
    await scanRows(this.reader, await dialectOf(this.reader), {}, function* (row) {
      columns = yield* row.cells()
      return 'stop'
    })
    return columns
  }

  /** Rows `start` to before `end`, counted from 0 behind the header, at most 10,000. */
  async rows(start = 0, end = Number.POSITIVE_INFINITY): Promise<string[][]> {
    requireNumber('artifact.rows', 'start', start)
    requireNumber('artifact.rows', 'end', end)
    return this.#collect({ start, end }, () => true)
  }

  /** How many rows there are behind the header. */
  async rowCount(options: Pick<RowScan, 'signal'> = {}): Promise<number> {
    requireOptions('artifact.rowCount', options)
    let last = 0
    await scanRows(this.reader, await dialectOf(this.reader), options, ({ index }) => {
      last = index
      return 'go on'
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

  /** Goes over rows, and gives a cursor to go on; the way in for queries of subclasses. */
  async walk(
    {
      start,
      end,
      cursor,
      ...range
    }: RowScan & {
      readonly start: number
      readonly end: number
      readonly cursor?: string | undefined
    },
    take: (row: TableRow) => 'taken' | 'passed' | 'full',
  ): Promise<RowsEnd> {
    const dialect = await dialectOf(this.reader)
    const after = cursor ? { after: readItemCursor(cursor, this.digest) } : {}
    const scan = { ...range, ...after }
    let behind: ItemPosition = scan.after ?? { index: 0, byte: dialect.byte }
    let isFull = false
    const first = Math.max(0, start)
    const ended = await scanRows(this.reader, dialect, scan, (row) => {
      const index = row.index - 1
      const next = { index: row.index + 1, byte: row.end }
      // Said this way round, a range that is no number is empty.
      if (!(index < end)) return 'stop'
      if (index >= first) return taking(row, next)
      behind = next
      return 'go on'
    })
    function* taking(row: CsvRow, next: ItemPosition): Steps<'go on' | 'stop'> {
      isFull = take({ index: row.index - 1, cells: yield* row.cells() }) === 'full'
      if (isFull) return 'stop'
      behind = next
      return 'go on'
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

/** The dialect of a spool is found out once. */
const dialects = new WeakMap<SpoolReader, Promise<CsvDialect>>()

function dialectOf(reader: SpoolReader): Promise<CsvDialect> {
  let dialect = dialects.get(reader)
  if (dialect === undefined) {
    dialect = detectDialect(reader)
    dialects.set(reader, dialect)
    dialect.catch(() => dialects.delete(reader))
  }
  return dialect
}
