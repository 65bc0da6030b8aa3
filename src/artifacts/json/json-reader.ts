import { brief } from '../../core/error/cut-text.ts'
import { isBobbinError } from '../../core/error/error.ts'
import { requireNumber, requireOptions } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { pacer } from '../../spool/event-loop.ts'
import { decodeUtf8 } from '../../spool/line-text.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import { MAX_KEYS } from '../query/answer-limits.ts'
import { itemCursor, readItemCursor } from '../query/cursor.ts'
import { type FilterOperand, type FilterOperator, requireCondition } from '../query/json-filter.ts'
import { runInTurns, type Steps } from '../query/steps.ts'
import { MAX_VALUE_BYTES } from './json-capture.ts'
import {
  findRoot,
  type JsonPlace,
  locate,
  readValue,
  type ScanOptions,
  scanMembers,
  valueTooLarge,
} from './json-document.ts'
import {
  type JsonItem,
  type Taking,
  type WalkEnd,
  type WalkRange,
  walkItems,
} from './json-items.ts'
import { fieldSatisfies, keysOf, lookUp, lookUpSteps } from './json-lookup.ts'
import { parsePath, pathLeadsNowhere } from './json-path.ts'
import { valueOfBytes } from './json-value.ts'

/** Items that one call of a method gives at most. */
const MAX_ITEMS = 10_000
const SAMPLED_ITEMS = 1_000
const PREVIEW_ITEMS = 20
const PREVIEW_KEYS = 40

type Signal = Pick<ScanOptions, 'signal'>

/** Which part of a document a method looks at. */
export interface JsonRange extends ScanOptions {
  /** Where the array, object or NDJSON is; the root by default. */
  readonly path?: string
  readonly start?: number
  readonly end?: number
}

/** A condition on one field of an item. */
export interface JsonCondition {
  readonly field: string
  readonly operator: FilterOperator
  readonly value?: FilterOperand
}

/** The type of a value, and its text unless it is too large. */
export interface JsonText {
  readonly type: JsonPlace['type']
  readonly text: string | undefined
}

/** Answers the methods of `SpooledJsonArtifact` from the bytes of one spool. */
export class JsonReader {
  readonly #reader: SpoolReader

  constructor(reader: SpoolReader) {
    this.#reader = reader
  }

  async type(path: string, options: Signal): Promise<JsonPlace['type']> {
    return (await this.#at(path, options)).type
  }

  async keys(path: string, options: ScanOptions): Promise<string[]> {
    const place = await this.#at(path, options)
    const keys = new Set<string>()
    if (place.type !== 'object') {
      const range = { ...options, start: 0, end: SAMPLED_ITEMS }
      await walkItems(this.#reader, place, range, function* ({ type, bytes }) {
        if (type !== 'object' || bytes === undefined) return 'passed'
        for (const key of yield* keysOf(bytes, MAX_KEYS)) keys.add(key)
        return keys.size < MAX_KEYS ? 'taken' : 'full'
      })
      return [...keys].slice(0, MAX_KEYS)
    }
    await scanMembers(this.#reader, place, undefined, options, {
      begin({ key = '' }) {
        keys.add(key)
        return keys.size < MAX_KEYS ? 'skip' : 'stop'
      },
      end: () => 'continue',
    })
    return [...keys]
  }

  async length(path: string, options: ScanOptions): Promise<number> {
    const place = await this.#container(path, options)
    const skip = {
      wantsKey: () => false,
      begin: () => 'skip' as const,
      end: () => 'continue' as const,
    }
    return (await scanMembers(this.#reader, place, undefined, options, skip)).count
  }

  async get(path: string, options: Signal): Promise<JsonValue> {
    const place = await this.#at(path, options)
    if (place.type === 'lines') {
      if (this.#reader.byteLength - place.byte > MAX_VALUE_BYTES) throw valueTooLarge('lines')
      return this.#collect(options, valueOf, Number.POSITIVE_INFINITY)
    }
    return runInTurns(valueOfBytes(await readValue(this.#reader, place)), pacer())
  }

  async slice(start: number, end: number, options: JsonRange): Promise<JsonValue[]> {
    requireNumber('artifact.slice', 'start', start)
    requireNumber('artifact.slice', 'end', end)
    return this.#collect({ ...options, start, end }, valueOf)
  }

  async pluck(field: string, range: JsonRange): Promise<JsonValue[]> {
    const path = lookUpSteps(parsePath(field))
    return this.#collect(range, function* ({ bytes }) {
      const found = bytes && (yield* lookUp(bytes, path))
      return found === undefined ? null : yield* valueOfBytes(found.bytes)
    })
  }

  async filter(condition: JsonCondition, range: JsonRange): Promise<JsonValue[]> {
    requireCondition('field', condition)
    const { operator, value } = condition
    const field = lookUpSteps(parsePath(condition.field))
    return this.#collect(range, function* (item) {
      const fits = item.bytes && (yield* fieldSatisfies(item.bytes, field, operator, value))
      return fits ? yield* valueOf(item) : undefined
    })
  }

  async walk(
    path: string,
    { cursor, ...range }: WalkRange,
    take: (item: JsonItem) => Taking,
  ): Promise<WalkEnd> {
    const place = await this.#container(path, range)
    const source = `${this.#reader.digest}:${place.byte}`
    const after = cursor ? { after: readItemCursor(cursor, source) } : {}
    const end = await walkItems(this.#reader, place, { ...range, ...after }, take)
    return end.next === undefined ? end : { ...end, cursor: itemCursor(end.next, source) }
  }

  async textAt(path: string, maxBytes: number, options: Signal): Promise<JsonText> {
    const place = await this.#at(path, options)
    if (place.type === 'lines') return { type: 'lines', text: undefined }
    try {
      return { type: place.type, text: decodeUtf8(await readValue(this.#reader, place, maxBytes)) }
    } catch (error) {
      if (!isBobbinError(error, 'E_LIMIT_EXCEEDED')) throw error
      return { type: place.type, text: undefined }
    }
  }

  async preview(): Promise<string | undefined> {
    const { type } = await this.#at('')
    if (type !== 'object' && type !== 'array' && type !== 'lines') return `a ${type}`
    const keys = new Set<string>()
    let items = 0
    await this.walk('', { start: 0, end: PREVIEW_ITEMS, maxMs: 50 }, function* (item) {
      items++
      if (type === 'object') keys.add(`${brief(item.key ?? '', 40)} (${item.type})`)
      else if (item.type === 'object' && item.bytes !== undefined) {
        for (const key of yield* keysOf(item.bytes, PREVIEW_KEYS)) keys.add(brief(key, 40))
      }
      return keys.size < PREVIEW_KEYS ? 'taken' : 'full'
    })
    const shown = [...keys].slice(0, PREVIEW_KEYS).join(', ')
    if (type === 'object') return `an object; its first keys: ${shown || 'none'}`
    const what = type === 'lines' ? 'NDJSON' : 'an array'
    return keys.size === 0 ? what : `${what}; its first ${items} items have the keys: ${shown}`
  }

  async #collect(
    range: JsonRange,
    pick: (item: JsonItem) => Steps<JsonValue | undefined>,
    limit = MAX_ITEMS,
  ): Promise<JsonValue[]> {
    requireOptions('artifact', range)
    const { path = '', start = 0, end = Number.POSITIVE_INFINITY, ...options } = range
    const picked: JsonValue[] = []
    await this.walk(path, { ...options, start: Math.max(0, start), end }, function* (item) {
      const value = yield* pick(item)
      if (value === undefined) return 'passed'
      picked.push(value)
      return picked.length < limit ? 'taken' : 'full'
    })
    return picked
  }

  async #at(path: string, options: Signal = {}): Promise<JsonPlace> {
    requireOptions('artifact', options)
    const steps = parsePath(path)
    return locate(this.#reader, await rootOf(this.#reader), steps, options)
  }

  async #container(path: string, options: ScanOptions): Promise<JsonPlace> {
    const place = await this.#at(path, options)
    if (['array', 'object', 'lines'].includes(place.type)) return place
    throw pathLeadsNowhere(parsePath(path), `a ${place.type} has no items; get it instead`)
  }
}

/** The value of an item; `null` for one that is too large to hold. */
function* valueOf({ bytes }: JsonItem): Steps<JsonValue> {
  return bytes === undefined ? null : yield* valueOfBytes(bytes)
}

/** Whether a spool is a document or NDJSON is found out once. */
const roots = new WeakMap<SpoolReader, Promise<JsonPlace>>()

function rootOf(reader: SpoolReader): Promise<JsonPlace> {
  let root = roots.get(reader)
  if (root === undefined) {
    root = findRoot(reader)
    roots.set(reader, root)
    root.catch(() => roots.delete(reader))
  }
  return root
}
