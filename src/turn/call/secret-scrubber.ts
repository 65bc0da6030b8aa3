import { concatBytes } from '../../core/concat-bytes.ts'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { bytesOf } from '../../spool/spool-input.ts'
import type { SpoolInput } from '../../spool/spool-store.ts'
import { binaryText, formsOf, type SecretForms } from './secret-forms.ts'

/** Replaces a secret. */
const MARK = '[secret]'

/** Shorter values are not removed: they occur inside ordinary words. */
const MIN_LENGTH = 4

/** Removes the secrets that a turn gave to its calls from everything that the calls return. */
export interface SecretScrubber {
  /** Gives a secret and remembers it; absent when the runner has no `secrets`. */
  readonly secret?: (name: string) => Promise<string>
  text(text: string): string
  json(value: JsonValue): JsonValue
  data(data: SpoolInput): SpoolInput
}

/**
 * Remembers the values of `secrets` and replaces them in results: plain, and as JSON and URLs write them (see `formsOf`).
 * Other encodings, such as base64, and one encoding inside another are not recognised.
 */
export function secretScrubber(
  secrets: ((name: string) => string | Promise<string>) | undefined,
): SecretScrubber {
  if (secrets === undefined) return NO_SECRETS
  const values: string[] = []
  let forms: SecretForms | undefined
  const text = (given: string) => (forms === undefined ? given : given.replace(forms.text, MARK))
  return {
    async secret(name) {
      const value: unknown = await secrets(name)
      if (typeof value !== 'string') throw noSecret(name)
      if (value.length >= MIN_LENGTH && !values.includes(value)) {
        values.push(value)
        forms = formsOf(values)
      }
      return value
    },
    text,
    json: (value) => (forms === undefined ? value : cleanJson(plainJson(value), text)),
    data(data) {
      if (typeof data === 'string') return text(data)
      if (data instanceof Uint8Array) return forms ? cut(data, forms, true).clean : data
      // A stream may ask for its secret while it is read.
      return cleanStream(data, () => forms)
    },
  }
}

/** Without this error, a handler would send the word "undefined" somewhere. */
function noSecret(name: string): BobbinError {
  const message = `There is no secret \`${name}\`: the runner's \`secrets\` did not return a string for it.`
  return new BobbinError('E_MISSING_CAPABILITY', message, { capability: 'secret' })
}

const same = <T>(value: T): T => value
const NO_SECRETS: SecretScrubber = { text: same, json: same, data: same }
const MARK_BYTES = new TextEncoder().encode(MARK)

/** A value as JSON; `undefined` becomes null. */
const plainJson = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue

/** Value by value: a secret of digits may be a number, and its replacement must be valid JSON. */
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
  forms: () => SecretForms | undefined,
): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (const chunk of bytesOf(data)) {
    const known = forms()
    if (known === undefined) {
      yield chunk
      continue
    }
    // A copy: the source may reuse its buffer. `slice` of a Node buffer does not copy.
    waiting.push(new Uint8Array(chunk))
    length += chunk.length
    // Held-back bytes are scanned again. Collect small chunks first, so that this stays a small part of the work.
    if (length < known.longest * 4) continue
    const { clean, rest } = cut(concatBytes(waiting), known, false)
    waiting = [rest]
    length = rest.length
    yield clean
  }
  const known = forms()
  if (known !== undefined) yield cut(concatBytes(waiting), known, true).clean
}

/** Replaces the secrets. Holds back bytes that may be the beginning of one, unless they are the last. */
function cut(bytes: Uint8Array, forms: SecretForms, isLast: boolean) {
  const parts: Uint8Array[] = []
  // A secret that begins after this point may be incomplete, even if it holds a shorter, complete one.
  const open = isLast ? bytes.length : Math.max(0, bytes.length - forms.longest + 1)
  let at = 0
  for (const { index, length } of found(bytes, forms)) {
    if (index >= open) break
    parts.push(bytes.subarray(at, index), MARK_BYTES)
    at = index + length
  }
  const end = Math.max(at, open)
  parts.push(bytes.subarray(at, end))
  return { clean: concatBytes(parts), rest: bytes.slice(end) }
}

/** How many bytes are searched at once: no string can hold all bytes of a large result. */
const WINDOW = 1024 * 1024

/** The places of the secrets, from the first on. */
function* found(bytes: Uint8Array, { bytes: pattern, longest }: SecretForms) {
  for (let from = 0; from < bytes.length; ) {
    let next = from + WINDOW
    const window = binaryText(bytes.subarray(from, next + longest))
    for (const { index, 0: form } of window.matchAll(pattern)) {
      if (index >= WINDOW) break
      yield { index: from + index, length: form.length }
      next = Math.max(next, from + index + form.length)
    }
    from = next
  }
}

/** How many causes of an error are looked at. */
const MAX_CAUSES = 10

/** An error for observers: as it was thrown, or a copy of its name, message and stack if a secret is in it. */
export function cleanError(error: unknown, text: SecretScrubber['text']): unknown {
  let part = error
  let message = ''
  for (let depth = 0; depth < MAX_CAUSES && part instanceof Error; depth++) {
    message += `${part.message}\n${part.stack ?? ''}\n`
    part = part.cause
  }
  if (part !== undefined) message += thrownText(part)
  if (text(message) === message) return error
  const { name = 'Error', stack = '' } = error instanceof Error ? error : {}
  return Object.assign(new Error(text(thrownText(error))), { name, stack: text(stack) })
}
