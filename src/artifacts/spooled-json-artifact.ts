import { brief } from '../core/cut-text.ts'
import { isBobbinError } from '../core/error.ts'
import type { JsonValue } from '../core/json.ts'
import { requireNumber, requireOptions } from '../core/wrong-input.ts'
import { pacer } from '../spool/event-loop.ts'
import { decodeUtf8 } from '../spool/line-text.ts'
import type { SpoolReader } from '../spool/spool-reader.ts'
import { MAX_KEYS } from './answer-limits.ts'
import { itemCursor, readItemCursor } from './cursor.ts'
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
import { type FilterOperand, type FilterOperator, requireCondition } from './json-filter.ts'
import {
  type ItemRange,
  type ItemsEnd,
  type JsonItem,
  type Taking,
  walkItems,
} from './json-items.ts'
import { fieldSatisfies, keysOf, lookUp, lookUpSteps } from './json-lookup.ts'
import { parsePath, pathLeadsNowhere } from './json-path.ts'
import { jsonQueries } from './json-queries.ts'
import { valueOfBytes } from './json-value.ts'
import type { Query } from './query.ts'
import { SpooledArtifact } from './spooled-artifact.ts'
import { runInTurns, type Steps } from './steps.ts'

/** Items that one call of a method gives at most. */
const MAX_ITEMS = 10_000
const SAMPLED_ITEMS = 1_000
const PREVIEW_ITEMS = 20
const PREVIEW_KEYS = 40

/** Which part of a document a method looks at. */
export interface JsonRange extends ScanOptions {
  /** Where the array, object or NDJSON lies; the root unless told. */
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

/**
 * JSON on a spool, a document or one value a line (NDJSON). Queries read as far as they must and hold only
 * what they answer, so that an array of 100 MB can be counted, sliced and plucked.
 */
export class SpooledJsonArtifact extends SpooledArtifact {
  static override readonly kind: string = 'json'
  static override readonly queries: readonly Query[] = jsonQueries

  /** The type at a path; `lines` for NDJSON as a whole. */
  async type(path = '', options: Pick<ScanOptions, 'signal'> = {}): Promise<JsonPlace['type']> {
    return (await this.#at(path, options)).type
  }

  /** The keys of an object; of an array or NDJSON, those of its first thousand items. At most 10,000. */
  async keys(path = '', options: ScanOptions = {}): Promise<string[]> {
    const place = await this.#at(path, options)
    const keys = new Set<string>()
    if (place.type !== 'object') {
      const range = { ...options, start: 0, end: SAMPLED_ITEMS }
      await walkItems(this.reader, place, range, function* ({ type, bytes }) {
        if (type !== 'object' || bytes === undefined) return 'passed'
        for (const key of yield* keysOf(bytes, MAX_KEYS)) keys.add(key)
        return keys.size < MAX_KEYS ? 'taken' : 'full'
      })
      return [...keys].slice(0, MAX_KEYS)
    }
    await scanMembers(this.reader, place, undefined, options, {
      begin({ key = '' }) {
        keys.add(key)
        return keys.size < MAX_KEYS ? 'skip' : 'stop'
      },
      end: () => 'go on',
    })
    return [...keys]
  }

  /** How many members an array or object has, or how many values NDJSON. */
  async length(path = '', options: ScanOptions = {}): Promise<number> {
    const place = await this.#container(path, options)
    const skip = {
      wantsKey: () => false,
      begin: () => 'skip' as const,
      end: () => 'go on' as const,
    }
    return (await scanMembers(this.reader, place, undefined, options, skip)).count
  }

  /** The value at a path, refused above 1 MB; all values of NDJSON in an array. */
  async get(path = '', options: Pick<ScanOptions, 'signal'> = {}): Promise<JsonValue> {
    const place = await this.#at(path, options)
    if (place.type === 'lines') {
      if (this.byteLength() - place.byte > MAX_VALUE_BYTES) throw valueTooLarge('lines')
      return this.#collect(options, valueOf, Number.POSITIVE_INFINITY)
    }
    return runInTurns(valueOfBytes(await readValue(this.reader, place)), pacer())
  }

  /**
   * Items `start` to before `end` of an array, an object's values, or NDJSON, at most 10,000; `null` for one above
   * 1 MB.
   */
  async slice(start: number, end: number, options: JsonRange = {}): Promise<JsonValue[]> {
    requireNumber('artifact.slice', 'start', start)
    requireNumber('artifact.slice', 'end', end)
    return this.#collect({ ...options, start, end }, valueOf)
  }

  /** One field of the items in the range, at most 10,000; `null` where an item lacks it or is above 1 MB. */
  async pluck(field: string, range: JsonRange = {}): Promise<JsonValue[]> {
    const path = lookUpSteps(parsePath(field))
    return this.#collect(range, function* ({ bytes }) {
      const found = bytes && (yield* lookUp(bytes, path))
      return found === undefined ? null : yield* valueOfBytes(found.bytes)
    })
  }

  /** The first 10,000 items in the range that satisfy a condition; those above 1 MB are passed over. */
  async filter(condition: JsonCondition, range: JsonRange = {}): Promise<JsonValue[]> {
    requireCondition('field', condition)
    const { operator, value } = condition
    const field = lookUpSteps(parsePath(condition.field))
    return this.#collect(range, function* (item) {
      const fits = item.bytes && (yield* fieldSatisfies(item.bytes, field, operator, value))
      return fits ? yield* valueOf(item) : undefined
    })
  }

  /** Goes over the items at a path, and gives a cursor to go on; the way in for queries of subclasses. */
  async walk(
    path: string,
    { cursor, ...range }: Omit<ItemRange, 'after'> & { readonly cursor?: string | undefined },
    take: (item: JsonItem) => Taking,
  ): Promise<ItemsEnd & { readonly cursor?: string }> {
    const place = await this.#container(path, range)
    const source = `${this.digest}:${place.byte}`
    const after = cursor ? { after: readItemCursor(cursor, source) } : {}
    const end = await walkItems(this.reader, place, { ...range, ...after }, take)
    return end.next === undefined ? end : { ...end, cursor: itemCursor(end.next, source) }
  }

  /** The text of the value at a path, as it is written; absent when it is larger than `maxBytes`. */
  async textAt(
    path: string,
    maxBytes: number,
    options: Pick<ScanOptions, 'signal'> = {},
  ): Promise<{ readonly type: JsonPlace['type']; readonly text: string | undefined }> {
    const place = await this.#at(path, options)
    if (place.type === 'lines') return { type: 'lines', text: undefined }
    try {
      return { type: place.type, text: decodeUtf8(await readValue(this.reader, place, maxBytes)) }
    } catch (error) {
      if (!isBobbinError(error, 'E_LIMIT_EXCEEDED')) throw error
      return { type: place.type, text: undefined }
    }
  }

  /** Type and keys, read from the beginning only. */
  override async preview(): Promise<string | undefined> {
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

  async #at(path: string, options: Pick<ScanOptions, 'signal'> = {}): Promise<JsonPlace> {
    requireOptions('artifact', options)
    const steps = parsePath(path)
    return locate(this.reader, await rootOf(this.reader), steps, options)
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
