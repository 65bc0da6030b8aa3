import type { JsonValue } from '../core/json/json.ts'
import type { JsonPlace, ScanOptions } from './json/json-document.ts'
import type { JsonItem, Taking, WalkEnd, WalkRange } from './json/json-items.ts'
import type { JsonCondition, JsonRange, JsonReader, JsonText } from './json/json-reader.ts'
import { jsonQueries } from './json-queries.ts'
import { loadAnswers } from './load-answers.ts'
import type { Query } from './query/query.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

/**
 * JSON on a spool: one document, or one value a line (NDJSON). Queries read only as far as they must and hold
 * only their answer, so an array of 100 MB can be counted, sliced and plucked.
 */
export class SpooledJsonArtifact extends SpooledArtifact {
  static override readonly kind: string = 'json'
  static override readonly queries: readonly Query[] = jsonQueries

  /** The type at a path; `lines` for NDJSON as a whole. */
  async type(path = '', options: Pick<ScanOptions, 'signal'> = {}): Promise<JsonPlace['type']> {
    return (await this.#json()).type(path, options)
  }

  /** The keys of an object; of an array or NDJSON, the keys of its first thousand items. At most 10,000. */
  async keys(path = '', options: ScanOptions = {}): Promise<string[]> {
    return (await this.#json()).keys(path, options)
  }

  /** How many members an array or object has, or how many values NDJSON has. */
  async length(path = '', options: ScanOptions = {}): Promise<number> {
    return (await this.#json()).length(path, options)
  }

  /** The value at a path, refused above 1 MB; all values of NDJSON in an array. */
  async get(path = '', options: Pick<ScanOptions, 'signal'> = {}): Promise<JsonValue> {
    return (await this.#json()).get(path, options)
  }

  /**
   * Items `start` to before `end` of an array, an object's values, or NDJSON. At most 10,000; `null` for an
   * item above 1 MB.
   */
  async slice(start: number, end: number, options: JsonRange = {}): Promise<JsonValue[]> {
    return (await this.#json()).slice(start, end, options)
  }

  /** One field of the items in the range, at most 10,000; `null` if an item lacks it or is above 1 MB. */
  async pluck(field: string, range: JsonRange = {}): Promise<JsonValue[]> {
    return (await this.#json()).pluck(field, range)
  }

  /** The first 10,000 items in the range that satisfy a condition; items above 1 MB are skipped. */
  async filter(condition: JsonCondition, range: JsonRange = {}): Promise<JsonValue[]> {
    return (await this.#json()).filter(condition, range)
  }

  /** Goes over the items at a path and gives a cursor to continue; queries of subclasses use it. */
  async walk(path: string, range: WalkRange, take: (item: JsonItem) => Taking): Promise<WalkEnd> {
    return (await this.#json()).walk(path, range, take)
  }

  /** The text of the value at a path, as it is written; absent when it is larger than `maxBytes`. */
  async textAt(
    path: string,
    maxBytes: number,
    options: Pick<ScanOptions, 'signal'> = {},
  ): Promise<JsonText> {
    return (await this.#json()).textAt(path, maxBytes, options)
  }

  /** Type and keys, read from the beginning only. */
  override async preview(): Promise<string | undefined> {
    return (await this.#json()).preview()
  }

  async #json(): Promise<JsonReader> {
    const { JsonReader } = await loadAnswers()
    return new JsonReader(this.reader)
  }
}
