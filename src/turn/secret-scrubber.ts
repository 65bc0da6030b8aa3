import { concatBytes } from '../core/concat-bytes.ts'
import { BobbinError } from '../core/error.ts'
import type { JsonObject, JsonValue } from '../core/json.ts'
import { bytesOf } from '../spool/spool-input.ts'
import type { SpoolInput } from '../spool/spool-store.ts'

/** What stands where a secret was. */
const MARK = '[secret]'

/** Anything shorter is no secret, and its removal would cut holes into ordinary words. */
const MIN_LENGTH = 4

/** Keeps the secrets that the calls of a turn were given out of everything that they give back. */
export interface SecretScrubber {
  /** Hands out a secret and remembers it; absent when there is nobody to ask. */
  readonly secret?: (name: string) => Promise<string>
  text(text: string): string
  json(value: JsonValue): JsonValue
  data(data: SpoolInput): SpoolInput
}

/**
 * Remembers what `secrets` hands out and replaces it in what it is shown: as it is, as JSON writes it, and
 * as URLs write it. What a handler encodes in other ways, such as base64, is not recognised.
 */
export function secretScrubber(
  secrets: ((name: string) => string | Promise<string>) | undefined,
): SecretScrubber {
  if (secrets === undefined) return NO_SECRETS
  let forms: readonly string[] = []
  let needles: readonly Uint8Array[] = []
  const text = (given: string) => forms.reduce((clean, form) => clean.replaceAll(form, MARK), given)
  return {
    async secret(name) {
      const value: unknown = await secrets(name)
      if (typeof value !== 'string') throw noSecret(name)
      forms = longestFirst([...forms, ...formsOf(value)])
      needles = forms.map((form) => encoder.encode(form))
      return value
    },
    text,
    json: (value) => (forms.length === 0 ? value : cleanJson(plainJson(value), text)),
    data(data) {
      if (typeof data === 'string') return text(data)
      if (data instanceof Uint8Array) return needles.length === 0 ? data : whole(data, needles)
      // A stream may ask for its secret while it is read.
      return cleanStream(data, () => needles)
    },
  }
}

/** A handler that goes on without would send the word "undefined" somewhere. */
function noSecret(name: string): BobbinError {
  const message = `There is no secret \`${name}\`: \`secrets\` of the runner gave no string for it.`
  return new BobbinError('E_MISSING_CAPABILITY', message, { capability: 'secret' })
}

const same = <T>(value: T): T => value
const NO_SECRETS: SecretScrubber = { text: same, json: same, data: same }
const encoder = new TextEncoder()
const MARK_BYTES = encoder.encode(MARK)

function formsOf(value: string): readonly string[] {
  if (value.length < MIN_LENGTH) return []
  const text = value.toWellFormed()
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(text)]
}

const longestFirst = (forms: readonly string[]) =>
  [...new Set(forms)].sort((a, b) => b.length - a.length)

/** What is left of a value on its way through JSON; nothing at all is null. */
const plainJson = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue

/** Value by value: a secret of digits may be a number, and what stands for it must not break the JSON. */
function cleanJson(value: JsonValue, clean: (text: string) => string): JsonValue {
  if (typeof value === 'string') return clean(value)
  if (typeof value === 'number') return clean(String(value)) === String(value) ? value : MARK
  if (Array.isArray(value)) return value.map((each: JsonValue) => cleanJson(each, clean))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject)
  return Object.fromEntries(entries.map(([key, each]) => [clean(key), cleanJson(each, clean)]))
}

async function* cleanStream(
  data: SpoolInput,
  needles: () => readonly Uint8Array[],
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array = new Uint8Array(0)
  for await (const chunk of bytesOf(data)) {
    const { clean, rest } = cut(concatBytes([held, chunk]), needles(), false)
    held = rest
    yield clean
  }
  yield cut(held, needles(), true).clean
}

const whole = (bytes: Uint8Array, needles: readonly Uint8Array[]) => cut(bytes, needles, true).clean

/** Replaces the needles; what may be the beginning of one is held back unless the bytes are the last. */
function cut(bytes: Uint8Array, needles: readonly Uint8Array[], isLast: boolean) {
  const parts: Uint8Array[] = []
  const longest = Math.max(1, ...needles.map(({ length }) => length))
  // From here on a needle may begin that has not come to its end yet, and hold a shorter one that has.
  const open = isLast ? bytes.length : bytes.length - longest + 1
  let at = 0
  for (;;) {
    const found = firstOf(bytes, needles, at)
    if (found === undefined || found.index >= open) break
    parts.push(bytes.subarray(at, found.index), MARK_BYTES)
    at = found.index + found.length
  }
  const end = Math.max(at, open)
  parts.push(bytes.subarray(at, end))
  return { clean: concatBytes(parts), rest: bytes.slice(end) }
}

function firstOf(bytes: Uint8Array, needles: readonly Uint8Array[], from: number) {
  let first: { readonly index: number; readonly length: number } | undefined
  for (const needle of needles) {
    const index = indexOf(bytes, needle, from)
    if (index >= 0 && (first === undefined || index < first.index)) {
      first = { index, length: needle.length }
    }
  }
  return first
}

function indexOf(bytes: Uint8Array, needle: Uint8Array, from: number): number {
  const [head = 0] = needle
  for (let at = bytes.indexOf(head, from); at >= 0; at = bytes.indexOf(head, at + 1)) {
    if (needle.every((byte, offset) => bytes[at + offset] === byte)) return at
  }
  return -1
}
