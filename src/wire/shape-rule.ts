import type { Violation, WireApi } from '../model/wire/wire-adapter.ts'

/** The member of a request that holds the history, and whether a text may stand in the place of its items. */
const HISTORIES: Readonly<Record<WireApi, { readonly member: string; readonly text: boolean }>> = {
  'openai-responses': { member: 'input', text: true },
  foundry: { member: 'input', text: true },
  'openai-chat': { member: 'messages', text: false },
  'anthropic-messages': { member: 'messages', text: false },
  gemini: { member: 'contents', text: true },
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Finds a value that is not a payload of the protocol at all, in which its own rules find nothing. */
export function shapeViolations(api: WireApi, payload: unknown): readonly Violation[] {
  const { member, text } = HISTORIES[api]
  if (!isObject(payload)) {
    const message = `must be a request, its \`${member}\`, or one item of it`
    return [violation('', message, api)]
  }
  // One item by itself, whose own members may be called the same.
  if ('type' in payload || 'role' in payload) return []
  const history: unknown = Array.isArray(payload) ? payload : Reflect.get(payload, member)
  if (history === undefined || (text && typeof history === 'string')) return []
  if (!Array.isArray(history)) {
    const isOne = text && isObject(history)
    return isOne ? [] : [violation(member, 'must be a list', api)]
  }
  return history.flatMap((item: unknown, index) =>
    isObject(item) || (api === 'gemini' && typeof item === 'string')
      ? []
      : violation(`${member}[${index}]`, 'must be an object', api),
  )
}

const violation = (path: string, message: string, api: WireApi): Violation => ({
  rule: 'shape',
  prevents: `a 400 for a body that does not belong to \`${api}\``,
  path,
  message,
})
