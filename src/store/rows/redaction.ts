import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { hasJsonForm } from '../../core/json/json-form.ts'
import type { EntryKind, NewEntry } from '../entry.ts'
import { invalidInput } from '../store-errors.ts'

/** What a redaction hook looks at. */
export interface RedactionTarget {
  readonly kind: EntryKind
  /** The tool of a call or of a gate. */
  readonly tool?: string
  readonly data: JsonObject
}

/**
 * Names, as JSON Pointers into `data` such as `/args/password`, what must not be stored. Called for every
 * entry before anything is written.
 */
export type Redact = (target: RedactionTarget) => readonly string[] | undefined

/** What stands where something was removed. */
const REDACTED = '[redacted]'

/** Which fields of each kind can be redacted: the others hold the log together. */
const REDACTABLE: { readonly [K in EntryKind]: readonly string[] } = {
  message: ['content', 'attachments', 'identity', 'providerData'],
  thought: ['content', 'identity', 'providerData'],
  'history-item': ['*'],
  intent: ['args'],
  settlement: ['args', 'effectiveArgs', 'rawArgs', 'results', 'media', 'providerData'],
  'gate-opened': ['args', 'context'],
  'gate-closed': ['decision'],
  'turn-start': ['*'],
  'turn-end': ['reason', 'usage'],
  'model-call': ['parts', 'error', 'fallback'],
  summary: ['text'],
  rewind: [],
  note: ['message', 'data'],
}

/** Fields that only go as a whole, and what is left of them. */
const WHOLE: Readonly<Record<string, JsonValue | undefined>> = {
  results: REDACTED,
  media: undefined,
  attachments: [],
  providerData: undefined,
  rawArgs: undefined,
}

/** An entry without what the hook names, and the list of what was removed. */
export function redactEntry(
  entry: NewEntry,
  redact: Redact | undefined,
): { readonly entry: NewEntry; readonly redacted?: readonly string[] } {
  if (redact === undefined) return { entry }
  const given: unknown = entry.data
  // A record has fields that a copy of it loses.
  const data = (hasJsonForm(given) ? given.toJSON() : given) as JsonObject
  const tool = data['tool']
  const target = { kind: entry.kind, data, ...(typeof tool === 'string' && { tool }) }
  const pointers = [...new Set(redact(target) ?? [])]
  const copy = structuredClone(data) as Record<string, JsonValue>
  const named = pointers.flatMap((pointer) => remove(copy, pointer, entry.kind) ?? [])
  if (named.length === 0) return { entry }
  const redacted = [...new Set([...named, ...removeCopies(copy, named)])]
  if (entry.kind === 'settlement') {
    const before = Array.isArray(copy['redacted']) ? (copy['redacted'] as string[]) : []
    copy['redacted'] = [...new Set([...before, ...redacted])]
  }
  return { entry: { ...entry, data: copy } as unknown as NewEntry, redacted }
}

/**
 * Removes the other places that repeat the arguments: the text they were read from, and what the wire keeps of
 * the call. The media of a result go with its text. Says where.
 */
function removeCopies(data: Record<string, JsonValue>, redacted: readonly string[]): string[] {
  if (redacted.includes('/results') && Object.hasOwn(data, 'media')) {
    delete data['media']
    return ['/media', ...removeCopies(data, redacted)]
  }
  if (!redacted.some((pointer) => /^\/(args|effectiveArgs)(\/|$)/.test(pointer))) return []
  const result = data['result'] as Record<string, JsonValue> | null | undefined
  const found: string[] = []
  for (const [holder, path] of [
    [data, ''],
    [result, '/result'],
  ] as const) {
    for (const name of ['rawArgs', 'providerData']) {
      if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) continue
      delete holder[name]
      found.push(`${path}/${name}`)
    }
  }
  return found
}

/** Removes one value and says where; nothing when there is nothing at that place. */
function remove(
  data: Record<string, JsonValue>,
  pointer: string,
  kind: EntryKind,
): string | undefined {
  const [first, ...rest] = segmentsOf(pointer)
  const allowed = REDACTABLE[kind]
  if (first === undefined || !(allowed.includes('*') || allowed.includes(first))) {
    const rule = `cannot be redacted in an entry of kind \`${kind}\`: only ${allowed.join(', ')} can`
    throw invalidInput(pointer, rule)
  }
  if (!Object.hasOwn(data, first)) return undefined
  if (Object.hasOwn(WHOLE, first)) {
    const left = WHOLE[first]
    if (left === undefined) delete data[first]
    else data[first] = left
    return `/${first}`
  }
  let holder: Record<string, JsonValue> = data
  let key = first
  for (const segment of rest) {
    const next = holder[key]
    if (typeof next !== 'object' || next === null || !Object.hasOwn(next, segment)) return undefined
    holder = next as Record<string, JsonValue>
    key = segment
  }
  const value = holder[key]
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  // `defineProperty`, because a key such as `__proto__` is data here.
  Object.defineProperty(holder, key, {
    value: isObject ? { $redacted: true } : REDACTED,
    enumerable: true,
    configurable: true,
    writable: true,
  })
  return pointer
}

function segmentsOf(pointer: string): string[] {
  if (!pointer.startsWith('/'))
    throw invalidInput(pointer, 'must be a JSON Pointer such as /args/pin')
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}
