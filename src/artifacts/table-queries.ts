import { loadAnswers } from './load-answers.ts'
import { FILTER_OPERATORS } from './query/json-filter.ts'
import { CURSOR, type Query, query } from './query/query.ts'
import type { QueryableTable } from './table/table-answers.ts'

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
  description: 'The first row, counted from 0 after the header',
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
  run: async (table: QueryableTable) => (await loadAnswers()).listColumns(table),
})

const rows = query({
  name: 'table_rows',
  description: 'Shows rows of a table by position, each with its number.',
  parameters: { start: START, limit: LIMIT, columns: SHOWN_COLUMNS, cursor: CURSOR },
  run: async (table: QueryableTable, args, context) =>
    (await loadAnswers()).sliceRows(table, args, context),
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
  run: async (table: QueryableTable, args, context) =>
    (await loadAnswers()).filterRows(table, args, context),
})

const count = query({
  name: 'table_count',
  description: 'Counts the rows, or with a column how often each of its values occurs.',
  parameters: {
    column: { ...COLUMN, optional: true },
    limit: { ...LIMIT, description: 'How many values to show, the most frequent first' },
  },
  run: async (table: QueryableTable, args, context) =>
    (await loadAnswers()).countRows(table, args, context),
})

/** The queries that tables answer beside those on text. */
export const tableQueries: readonly Query[] = [columns, rows, filter, count]
