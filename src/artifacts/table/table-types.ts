import type { ItemPosition } from '../query/cursor.ts'
import type { FilterOperand, FilterOperator } from '../query/json-filter.ts'
import type { RowScan } from './csv-table.ts'

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

/** Where a walk over rows ended, and where to continue if there is more. */
export interface RowsEnd {
  readonly next: ItemPosition | undefined
  readonly outOfTime: boolean
  readonly seen: number
  readonly cursor?: string
}

/** Which rows to visit, beginning at a cursor if there is one. */
export interface RowRange extends RowScan {
  readonly start: number
  readonly end: number
  readonly cursor?: string | undefined
}
