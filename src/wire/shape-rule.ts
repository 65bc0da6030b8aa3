import { isObject } from '../core/error/wrong-input.ts'
import type { ProviderDefinition } from '../model/provider-definition.ts'
import type { Violation } from '../model/wire/wire-adapter.ts'

/** Finds a value that is not a payload of the protocol at all, in which its own rules find nothing. */
export function shapeViolations(
  { api, history: place }: Pick<ProviderDefinition, 'api' | 'history'>,
  payload: unknown,
): readonly Violation[] {
  const violation = (path: string, message: string): Violation => ({
    rule: 'shape',
    prevents: `a 400 for a body that does not belong to \`${api}\``,
    path,
    message,
  })
  if (!isObject(payload)) {
    const list = place === undefined ? 'a list' : `its \`${place.member}\``
    return [violation('', `must be a request, ${list}, or one item of it`)]
  }
  // One item by itself, whose own members may be called the same.
  if (place === undefined || 'type' in payload || 'role' in payload) return []
  const { member, text, textItems } = place
  const history: unknown = Array.isArray(payload) ? payload : Reflect.get(payload, member)
  if (history === undefined || (text && typeof history === 'string')) return []
  if (!Array.isArray(history)) {
    const isOne = text && isObject(history)
    return isOne ? [] : [violation(member, 'must be a list')]
  }
  return history.flatMap((item: unknown, index) =>
    isObject(item) || (textItems && typeof item === 'string')
      ? []
      : violation(`${member}[${index}]`, 'must be an object'),
  )
}
