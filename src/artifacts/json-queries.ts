import { brief } from '../core/cut-text.ts'
import { decodeUtf8 } from '../spool/line-text.ts'
import { ANSWER_CHARS, LINE_CHARS, MAX_KEYS, SCAN_MS } from './answer-limits.ts'
import type { JsonPlace, ScanOptions } from './json-document.ts'
import { FILTER_OPERATORS } from './json-filter.ts'
import type { ItemRange, ItemsEnd, JsonItem, Taking } from './json-items.ts'
import { fieldSatisfies, lookUp, lookUpSteps } from './json-lookup.ts'
import { parsePath } from './json-path.ts'
import { CURSOR, type Query, type QueryAnswer, type QueryContext, query } from './query.ts'
import type { Steps } from './steps.ts'

/** What the queries on JSON need of an artifact. */
interface QueryableJson {
  type(path?: string, options?: ScanOptions): Promise<JsonPlace['type']>
  keys(path?: string, options?: ScanOptions): Promise<string[]>
  length(path?: string, options?: ScanOptions): Promise<number>
  textAt(
    path: string,
    maxBytes: number,
    options?: ScanOptions,
  ): Promise<{ readonly type: string; readonly text: string | undefined }>
  walk(
    path: string,
    range: Omit<ItemRange, 'after'> & { readonly cursor?: string | undefined },
    take: (item: JsonItem) => Taking,
  ): Promise<ItemsEnd & { readonly cursor?: string }>
}

const PATH = {
  type: 'string',
  description: 'Where in the document, such as users[0].name; the root when left out',
  maxLength: 1_000,
  default: '',
} as const

const FIELD = {
  type: 'string',
  description: 'A path inside each item, such as address.city',
  maxLength: 1_000,
} as const

const POSITION = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const
const START = { ...POSITION, description: 'The first item, counted from 0', default: 0 } as const
const LIMIT = {
  type: 'integer',
  description: 'How many items to show',
  minimum: 1,
  maximum: 500,
  default: 50,
} as const

const type = query({
  name: 'json_type',
  description: 'Tells the type of a value: object, array, string, number, boolean, null or NDJSON.',
  parameters: { path: PATH },
  async run(json: QueryableJson, { path }, { signal }) {
    const found = await json.type(path, { signal })
    return found === 'lines' ? 'NDJSON: one value a line' : found
  },
})

const keys = query({
  name: 'json_keys',
  description:
    'Lists the keys of an object; for an array or NDJSON, the keys of its first 1,000 items.',
  parameters: { path: PATH },
  async run(json: QueryableJson, { path }, { signal }) {
    const found = await json.keys(path, { signal })
    const shown: string[] = []
    let left = ANSWER_CHARS
    for (const key of found) {
      const row = brief(key, 200)
      left -= row.length + 1
      if (left < 0) break
      shown.push(row)
    }
    const hidden = found.length - shown.length
    // A list that is full may go on.
    const least = found.length < MAX_KEYS ? '' : 'at least '
    const leftOut = `${least}${hidden} more keys; json_slice shows members by position`
    return { text: shown.join('\n') || '(no keys)', ...(hidden > 0 && { leftOut }) }
  },
})

const length = query({
  name: 'json_length',
  description: 'Counts the items of an array, the members of an object, or the values of NDJSON.',
  parameters: { path: PATH },
  run: async (json: QueryableJson, { path }, { signal }) =>
    String(await json.length(path, { signal })),
})

const get = query({
  name: 'json_get',
  description: 'Shows the value at a path, as it is written in the document.',
  parameters: { path: PATH },
  async run(json: QueryableJson, { path }, { signal }) {
    const found = await json.textAt(path, ANSWER_CHARS, { signal })
    if (found.text !== undefined) return found.text
    const what = found.type === 'lines' ? 'NDJSON' : found.type
    return `(this ${what} is too large to show at once: use json_keys and a longer path, or json_slice with this path)`
  },
})

const slice = query({
  name: 'json_slice',
  description: 'Shows some items of an array, an object or NDJSON, each with its position.',
  parameters: { path: PATH, start: START, limit: LIMIT, cursor: CURSOR },
  run: (json: QueryableJson, args, context) => listItems(json, args, context, ({ text }) => text),
})

const pluck = query({
  name: 'json_pluck',
  description: 'Shows the same fields of many items of an array, an object or NDJSON.',
  parameters: {
    path: PATH,
    fields: { type: 'strings', description: 'Paths inside each item', maxItems: 20 },
    start: START,
    limit: LIMIT,
    cursor: CURSOR,
  },
  run(json: QueryableJson, args, context) {
    const fields = args.fields.map((field) => [field, lookUpSteps(parsePath(field))] as const)
    return listItems(json, args, context, function* ({ bytes }) {
      if (bytes === undefined) return undefined
      const texts: string[] = []
      for (const [, path] of fields) {
        const found = yield* lookUp(bytes, path)
        texts.push(found ? decodeUtf8(found.bytes) : 'null')
      }
      if (texts.length === 1) return texts[0]
      const named = fields.map(([name], i) => `${JSON.stringify(name)}:${texts[i]}`)
      return `{${named.join(',')}}`
    })
  },
})

const filter = query({
  name: 'json_filter',
  description:
    'Finds the items of an array, an object or NDJSON whose field satisfies a condition.',
  parameters: {
    path: PATH,
    field: FIELD,
    operator: { type: 'string', description: 'How to compare', enum: FILTER_OPERATORS },
    value: { type: 'scalar', description: 'What to compare with', optional: true },
    start: START,
    limit: LIMIT,
    cursor: CURSOR,
  },
  run(json: QueryableJson, args, context) {
    const field = lookUpSteps(parsePath(args.field))
    return listItems(json, args, context, function* ({ text, bytes }) {
      // An item too large to look into is shown by its size, never passed over in silence.
      if (bytes === undefined) return undefined
      return (yield* fieldSatisfies(bytes, field, args.operator, args.value)) ? text : PASS
    })
  },
})

/** The queries that JSON answers beside those on text. */
export const jsonQueries: readonly Query[] = [type, keys, length, get, slice, pluck, filter]

/** No JSON is empty text. */
const PASS = ''

interface ListArguments {
  readonly path: string
  readonly start: number
  readonly limit: number
  readonly cursor: string | undefined
}

/** Lists items as far as an answer goes; `show` gives a row's text, or `PASS` to leave an item out. */
async function listItems(
  json: QueryableJson,
  { path, start, limit, cursor }: ListArguments,
  context: QueryContext,
  show: (item: JsonItem) => string | undefined | Steps<string | undefined>,
): Promise<QueryAnswer> {
  const rows: string[] = []
  let left = ANSWER_CHARS
  const range = { ...timed(context), start, end: Number.POSITIVE_INFINITY, cursor }
  const end = await json.walk(path, range, function* (item) {
    const showing = show(item)
    const shown = typeof showing === 'object' ? yield* showing : showing
    if (shown === PASS) return 'passed'
    if (rows.length === limit) return 'full'
    const row = `${label(item)}: ${cell(shown, item)}`
    if (row.length + 1 > left && rows.length > 0) return 'full'
    left -= row.length + 1
    rows.push(row)
    return 'taken'
  })
  const text = rows.join('\n') || `(no items; ${end.seen} were looked at)`
  if (end.next === undefined) return { text }
  const leftOut = end.outOfTime
    ? `items from ${end.next.index} on, because time was up`
    : `items from ${end.next.index} on`
  return { text, leftOut, ...(end.cursor && { cursor: end.cursor }) }
}

const label = ({ index, key }: JsonItem) =>
  key === undefined ? String(index) : `${index} ${JSON.stringify(brief(key, 100))}`

function cell(shown: string | undefined, { type: kind, byteLength }: JsonItem): string {
  if (shown === undefined) return `(${kind} of ${byteLength} bytes, too large to look into)`
  // Between the parts of a value there may be line ends, within them never.
  const line = shown.includes('\n') ? shown.replace(/\r?\n\s*/g, '') : shown
  if (line.length <= LINE_CHARS) return line
  return `${brief(line, LINE_CHARS)} [${line.length - LINE_CHARS} characters more]`
}

const timed = ({ signal }: QueryContext): ScanOptions => ({
  maxMs: SCAN_MS / 2,
  signal,
})
