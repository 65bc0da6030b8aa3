import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject, PlainObject } from '../../core/json/json.ts'
import { copyPlain } from '../../core/json/plain-json.ts'
import { invalidInput } from '../store-errors.ts'
import { columnText } from './entry-text.ts'
import { memberOf } from './store-input.ts'

/** The most characters that the metadata of a conversation may have as JSON. */
const MAX_META_CHARS = 16 * 1024
/** Each member is a row in a database. */
const MAX_META_MEMBERS = 64

/** One member of the metadata, as it is searched for: texts that fit any index. */
export interface MetaColumn {
  readonly name: string
  readonly value: string
}

/** The metadata of a conversation as stored. */
export interface MetaRow {
  /** Canonical JSON of an object. */
  readonly meta: string
  readonly columns: readonly MetaColumn[]
}

/** The text of a conversation that has no metadata. */
export const NO_META = '{}'

/** Strict JSON with members, copied. */
export function metaObject(given: PlainObject, path: string): JsonObject {
  const limits = { depth: 32, chars: MAX_META_CHARS }
  return copyPlain(memberOf(given, path), limits, { root: path, code: 'E_INVALID_STORE_INPUT' })
}

/** Stored metadata after a change: members of the patch replace those of the same name, `null` removes one. */
export function mergedMeta(stored: string, patch: JsonObject): MetaRow {
  const members = new Map(Object.entries(metaOf(stored) ?? {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, value)
  }
  const merged = Object.fromEntries(members)
  const meta = canonicalStringify(merged)
  if (meta.length > MAX_META_CHARS || members.size > MAX_META_MEMBERS) {
    const most = `${MAX_META_MEMBERS} members and ${MAX_META_CHARS} characters of JSON`
    throw invalidInput('meta', `must have at most ${most}: remove members by setting them to null`)
  }
  return { meta, columns: metaColumns(merged) }
}

/** Each member as its row has it. */
export function metaColumns(meta: JsonObject): readonly MetaColumn[] {
  return Object.entries(meta).map(([name, value]) => ({
    name: columnText(name),
    value: columnText(canonicalStringify(value)),
  }))
}

/** Stored metadata; undefined if it is missing or damaged. */
export function metaOf(stored: string): JsonObject | undefined {
  if (stored === NO_META) return undefined
  try {
    const meta: unknown = JSON.parse(stored)
    const isMeta = typeof meta === 'object' && meta !== null && !Array.isArray(meta)
    return isMeta ? (meta as JsonObject) : undefined
  } catch {
    return undefined
  }
}
