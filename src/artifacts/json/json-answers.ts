import { brief } from '../../core/error/cut-text.ts'
import { decodeUtf8 } from '../../spool/line-text.ts'
import { ANSWER_CHARS, LINE_CHARS, MAX_KEYS, SCAN_MS } from '../query/answer-limits.ts'
import { fitRows } from '../query/fit-rows.ts'
import type { FilterOperand, FilterOperator } from '../query/json-filter.ts'
import type { QueryAnswer, QueryContext } from '../query/query.ts'
import type { Steps } from '../query/steps.ts'
import type { JsonPlace, ScanOptions } from './json-document.ts'
import type { JsonItem, Taking, WalkEnd, WalkRange } from './json-items.ts'
import { fieldSatisfies, lookUp, lookUpSteps } from './json-lookup.ts'
import { parsePath } from './json-path.ts'
import type { JsonText } from './json-reader.ts'

/** What the queries on JSON need of an artifact. */
export interface QueryableJson {
  type(path?: string, options?: ScanOptions): Promise<JsonPlace['type']>
  keys(path?: string, options?: ScanOptions): Promise<string[]>
  length(path?: string, options?: ScanOptions): Promise<number>
  textAt(path: string, maxBytes: number, options?: ScanOptions): Promise<JsonText>
  walk(path: string, range: WalkRange, take: (item: JsonItem) => Taking): Promise<WalkEnd>
}

interface PathArguments {
  readonly path: string
}

interface ListArguments extends PathArguments {
  readonly start: number
  readonly limit: number
  readonly cursor: string | undefined
}

interface PluckArguments extends ListArguments {
  readonly fields: readonly string[]
}

interface FilterArguments extends ListArguments {
  readonly field: string
  readonly operator: FilterOperator
  readonly value: FilterOperand
}

/** Lists the keys at a path, as many as fit in an answer. */
export async function listKeys(
  json: QueryableJson,
  { path }: PathArguments,
  { signal }: QueryContext,
): Promise<QueryAnswer> {
  const found = await json.keys(path, { signal })
  const { text, leftOut } = fitRows(found, 'keys', (key) => brief(key, 200))
  if (leftOut === undefined) return { text }
  // A full list may be cut.
  const least = found.length < MAX_KEYS ? '' : 'at least '
  return { text, leftOut: `${least}${leftOut}; json_slice shows members by position` }
}

/** Shows the value at a path, or says how to look at a part of it. */
export async function showValue(
  json: QueryableJson,
  { path }: PathArguments,
  { signal }: QueryContext,
): Promise<string> {
  const found = await json.textAt(path, ANSWER_CHARS, { signal })
  if (found.text !== undefined) return found.text
  const what = found.type === 'lines' ? 'NDJSON' : found.type
  return `(this ${what} is too large to show at once: use json_keys and a longer path, or json_slice with this path)`
}

/** Lists items by position. */
export function sliceItems(json: QueryableJson, args: ListArguments, context: QueryContext) {
  return listItems(json, args, context, ({ text }) => text)
}

/** Lists some fields of the items. */
export function pluckItems(json: QueryableJson, args: PluckArguments, context: QueryContext) {
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
}

/** Lists the items that satisfy a condition. */
export function filterItems(json: QueryableJson, args: FilterArguments, context: QueryContext) {
  const field = lookUpSteps(parsePath(args.field))
  return listItems(json, args, context, function* ({ text, bytes }) {
    // An item too large to look into is shown by its size, never passed over in silence.
    if (bytes === undefined) return undefined
    return (yield* fieldSatisfies(bytes, field, args.operator, args.value)) ? text : PASS
  })
}

/** No JSON is empty text. */
const PASS = ''

/** Lists items as far as an answer goes; `show` gives a row's text, or `PASS` to leave an item out. */
async function listItems(
  json: QueryableJson,
  { path, start, limit, cursor }: ListArguments,
  { signal }: QueryContext,
  show: (item: JsonItem) => string | undefined | Steps<string | undefined>,
): Promise<QueryAnswer> {
  const rows: string[] = []
  let left = ANSWER_CHARS
  const range = { start, end: Number.POSITIVE_INFINITY, maxMs: SCAN_MS / 2, signal, cursor }
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
  const why = end.outOfTime ? ', because time was up' : ''
  const leftOut = `items from ${end.next.index} on${why}`
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
