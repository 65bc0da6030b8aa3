import type { Options, Values } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'

/** The options of `bobbin artifact`. */
export const QUERY_OPTIONS = {
  index: { type: 'string', value: 'N', help: 'Which result of a call that gave several, from 0' },
  lines: { type: 'string', short: 'n', value: 'N', help: 'How many lines, for head and tail' },
  start: { type: 'string', value: 'N', help: 'The first line, item or row, from 0' },
  end: { type: 'string', value: 'N', help: 'The line to stop before, for cat' },
  limit: { type: 'string', value: 'N', help: 'How many matches, items or rows' },
  literal: { type: 'boolean', short: 'F', help: 'Take the pattern as plain text' },
  'ignore-case': { type: 'boolean', short: 'i', help: 'Ignore upper and lower case' },
  context: { type: 'string', short: 'C', value: 'N', help: 'Lines around each match' },
  keys: { type: 'boolean', help: 'The keys of a JSON value' },
  length: { type: 'boolean', help: 'How many items a JSON value has' },
  fields: { type: 'string', value: 'A,B', help: 'These fields of every JSON item' },
  where: {
    type: 'string',
    value: 'TEST',
    help: 'Items or rows for which "field operator value" holds',
  },
  columns: { type: 'string', value: 'A,B', help: 'These columns of a table' },
  count: { type: 'boolean', help: 'Count rows, or with a column its values' },
  code: { type: 'boolean', help: 'The code blocks of Markdown' },
  links: { type: 'boolean', help: 'The links of Markdown' },
  cursor: { type: 'string', value: 'C', help: 'Continue where an answer ended' },
} as const satisfies Options

type QueryValues = Values<typeof QUERY_OPTIONS>

/** A query on one kind of artifact, with the arguments that a model would send. */
export interface AskedQuery {
  readonly kind: 'text' | 'json' | 'md' | 'table'
  readonly query: string
  readonly args: Readonly<Record<string, unknown>>
}

/** Which query a command line means. */
export function artifactQuery(
  form: string,
  argument: string | undefined,
  values: QueryValues,
): AskedQuery {
  const { lines, start, end, limit, cursor } = values
  const paging = { start, limit, cursor }
  if (form === 'head' || form === 'tail') return asked('text', form, { lines })
  if (form === 'cat') return asked('text', 'cat', { start, end, cursor })
  if (form === 'grep') return grep(argument, values)
  if (form === 'json') return json(argument ?? '', values, paging)
  if (form === 'md') {
    if (values.code === true) return asked('md', 'markdown_code_blocks', { cursor })
    if (values.links === true) return asked('md', 'markdown_links', { cursor })
    if (argument === undefined) return asked('md', 'markdown_headings', { cursor })
    return asked('md', 'markdown_section', { heading: argument, cursor })
  }
  if (form === 'table') return table(argument, values, paging)
  throw usageError(
    `\`bobbin artifact ${form}\` is not known: use head, tail, cat, grep, json, md, table or raw.`,
    'artifact',
  )
}

const asked = (
  kind: AskedQuery['kind'],
  query: string,
  args: Record<string, unknown>,
): AskedQuery => ({
  kind,
  query,
  args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)),
})

function grep(pattern: string | undefined, values: QueryValues): AskedQuery {
  if (pattern === undefined)
    throw usageError('`bobbin artifact grep ID` needs a pattern.', 'artifact')
  const { literal, context, limit, cursor, 'ignore-case': ignoreCase } = values
  return asked('text', 'grep', { pattern, literal, ignoreCase, context, limit, cursor })
}

function json(path: string, values: QueryValues, paging: object): AskedQuery {
  if (values.keys === true) return asked('json', 'json_keys', { path })
  if (values.length === true) return asked('json', 'json_length', { path })
  if (values.fields !== undefined) {
    return asked('json', 'json_pluck', { path, fields: values.fields.split(','), ...paging })
  }
  if (values.where !== undefined) {
    const { name, ...test } = readTest(values.where)
    return asked('json', 'json_filter', { path, field: name, ...test, ...paging })
  }
  const pages =
    values.start !== undefined || values.limit !== undefined || values.cursor !== undefined
  return pages
    ? asked('json', 'json_slice', { path, ...paging })
    : asked('json', 'json_get', { path })
}

function table(column: string | undefined, values: QueryValues, paging: object): AskedQuery {
  if (values.count === true) return asked('table', 'table_count', { column, limit: values.limit })
  const columns = values.columns?.split(',')
  if (values.where === undefined) return asked('table', 'table_rows', { columns, ...paging })
  const { name, ...test } = readTest(values.where)
  return asked('table', 'table_filter', { column: name, ...test, columns, ...paging })
}

/** `version equals 5.12.0`; a number, true, false or null is read as JSON unless it is quoted. */
function readTest(text: string) {
  const [, name, operator, rest] = /^\s*(\S+)\s+(\S+)(?:\s+(.*?))?\s*$/s.exec(text) ?? []
  if (name === undefined || operator === undefined) {
    throw usageError(`\`--where ${text}\` is not a test: write "field operator value".`, 'artifact')
  }
  return { name, operator, value: rest === undefined ? undefined : readScalar(rest) }
}

function readScalar(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? text : value
  } catch {
    return text
  }
}
