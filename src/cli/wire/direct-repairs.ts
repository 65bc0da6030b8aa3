import { sha256Hex } from '#hash'
import type { Violation } from '../../model/wire/wire-adapter.ts'

type Fields = Record<string, unknown>

/** Gemini documents this for calls whose signature is lost or was made elsewhere. */
const NO_SIGNATURE = 'skip_thought_signature_validator'
const MAX_ID = 64

/** Repairs one fault in place; returns what it did, or `undefined` if it cannot. */
type DirectRepair = (payload: Fields, place: Place) => string | undefined

interface Place {
  readonly path: string
  /** The innermost object on the path. */
  readonly owner: Fields
  /** The entry of the conversation that the path begins with. */
  readonly entry: Fields
}

/** Faults that take one small change; for all others the conversation is written anew. */
const REPAIRS: Readonly<Record<string, DirectRepair>> = {
  'call-id-length': (payload, { path, owner }) => {
    const member = path.endsWith('call_id') ? 'call_id' : 'id'
    const old = owner[member]
    if (typeof old !== 'string') return undefined
    renameId(payload, old, shortened(old))
    return `${path}: shortened, in the call and in its result`
  },
  'missing-namespace': (payload, { path, entry }) => {
    const holder = everyFields(payload).find(
      ({ type, tools }) =>
        type === 'namespace' &&
        Array.isArray(tools) &&
        tools.some((tool: Fields) => tool['name'] === entry['name']),
    )
    if (holder === undefined) return undefined
    entry['namespace'] = holder['name']
    return `${path}: given its namespace back`
  },
  'approval-sent-twice': (_payload, { path, entry }) => {
    entry[DROPPED] = true
    return `${path}: left out, the provider holds it`
  },
  'pair-while-chaining': (_payload, { path, entry }) => {
    entry[DROPPED] = true
    return `${path}: left out, the provider holds it`
  },
  'duplicate-item-id': (_payload, { path, entry }) => {
    delete entry['id']
    return `${path}: left out, another item has this id`
  },
  'output-schema': (_payload, { path, entry }) => {
    entry['output'] = JSON.stringify(entry['output'])
    return `${path}: written as JSON`
  },
  'agent-member': (payload, { path }) => {
    payload['agent_reference'] = payload['agent']
    delete payload['agent']
    return `${path}: called agent_reference`
  },
  'id-for-old-model': (_payload, { path, owner }) => {
    delete owner['id']
    return `${path}: left out, calls and responses pair by position there`
  },
  'missing-signature': (_payload, { path, owner }) => {
    owner['thoughtSignature'] = NO_SIGNATURE
    return `${path}: marked as a call whose signature is lost`
  },
}

const DROPPED = '\0dropped'

/** Applies the small repairs to a copy of a payload, with a message for each. */
export function repairDirectly(
  payload: unknown,
  violations: readonly Violation[],
): { readonly payload: unknown; readonly messages: readonly string[] } {
  const copy: unknown = structuredClone(payload)
  const root = (
    Array.isArray(copy) ? { input: copy, messages: copy, contents: copy } : copy
  ) as Fields
  const messages: string[] = []
  for (const { rule, path } of violations) {
    const repair = Object.hasOwn(REPAIRS, rule) ? REPAIRS[rule] : undefined
    const message = repair?.(root, placeOf(root, path))
    if (message !== undefined) messages.push(message)
  }
  const kept = <T>(list: T[]) => list.filter((item) => !(item as Fields)[DROPPED])
  if (Array.isArray(copy)) return { payload: kept(copy), messages }
  for (const [name, value] of Object.entries(root)) {
    if (Array.isArray(value)) root[name] = kept(value)
  }
  return { payload: root, messages }
}

/** Follows a path such as `input[3].call_id` or `messages.1.content.0` as far as objects go. */
function placeOf(root: Fields, path: string): Place {
  let at: unknown = root
  let owner = root
  let entry: Fields | undefined
  for (const step of path.match(/[^.[\]]+/g) ?? []) {
    at = (at as Fields | undefined)?.[step]
    if (typeof at !== 'object' || at === null) break
    if (Array.isArray(at)) continue
    owner = at as Fields
    entry ??= owner
  }
  return { path, owner, entry: entry ?? root }
}

/** The tail is hashed, not cut: two long ids that begin alike stay two. */
const shortened = (id: string) => `${id.slice(0, MAX_ID - 17)}_${sha256Hex(id).slice(0, 16)}`

function renameId(payload: unknown, old: string, fresh: string): void {
  for (const fields of everyFields(payload)) {
    for (const name of ['call_id', 'tool_call_id', 'id']) {
      if (fields[name] === old) fields[name] = fresh
    }
  }
}

function everyFields(value: unknown): readonly Fields[] {
  const found: Fields[] = []
  const waiting: unknown[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) found.push(next as Fields)
    for (const each of Object.values(next) as unknown[]) if (each !== undefined) waiting.push(each)
  }
  return found
}
