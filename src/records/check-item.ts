import { isObject } from '../core/error/wrong-input.ts'
import type { HistoryItem } from './history-item.ts'

type Test = (value: unknown) => boolean
type Rules = Readonly<Record<string, readonly [Test, string]>>

const string: readonly [Test, string] = [(value) => typeof value === 'string', 'must be a string']
const object: readonly [Test, string] = [
  (value) => isObject(value) && !Array.isArray(value),
  'must be an object',
]
const oneOf = (...names: readonly string[]): readonly [Test, string] => [
  (value) => names.includes(value as string),
  `must be one of ${names.join(', ')}`,
]
const isPart: Test = (value) => {
  if (!isObject(value)) return false
  const { type, text, kind, source } = value as Readonly<Record<string, unknown>>
  return type === 'text'
    ? typeof text === 'string'
    : type === 'media' && typeof kind === 'string' && isObject(source) && 'type' in source
}
const parts: readonly [Test, string] = [
  (value) => Array.isArray(value) && value.every(isPart),
  "must be a list of parts, such as `[{ type: 'text', text: '…' }]`",
]

/** Every call has these. */
const call: Rules = { id: string, tool: string, args: object, wire: object }

/** What an encoder relies on, by the type of an item. */
const RULES: Readonly<Record<HistoryItem['type'], Rules>> = {
  message: { role: oneOf('user', 'assistant', 'system'), parts },
  thought: { text: string },
  call: { ...call, executedBy: oneOf('runner', 'provider') },
  openCall: call,
  raw: { api: string, value: [(value) => value !== undefined, 'must be the value of the wire'] },
}

/** Refuses a value that is not an item of a history: items from a file or a client are not type-checked. */
export function checkItem(
  item: unknown,
  refuse: (path: string, rule: string) => Error,
): asserts item is HistoryItem {
  if (!isObject(item)) throw refuse('', 'must be an item, such as `decode` gives')
  const type = Reflect.get(item, 'type') as HistoryItem['type']
  if (!Object.hasOwn(RULES, type)) {
    throw refuse('.type', `must be one of ${Object.keys(RULES).join(', ')}`)
  }
  for (const [name, [test, rule]] of Object.entries(RULES[type])) {
    if (!test(Reflect.get(item, name))) throw refuse(`.${name}`, rule)
  }
  const result: unknown = type === 'call' ? Reflect.get(item, 'result') : undefined
  if (result === undefined) return
  if (!isObject(result)) throw refuse('.result', 'must be an object, or be left out')
  if (!parts[0](Reflect.get(result, 'parts'))) throw refuse('.result.parts', parts[1])
}
