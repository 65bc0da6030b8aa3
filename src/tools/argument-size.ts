import type { JsonArray, JsonValue } from '../core/json/json.ts'

/** Longer lists are compared by numbers for their contents, not item by item. */
export const LONG = 64

/** How many values small arguments may hold, in all their lists and objects. */
const SMALL = 1_000

/** Whether arguments are so small that checking each value many times is cheap. */
export function isSmall(args: JsonValue): boolean {
  return count(args, SMALL) >= 0
}

/** `budget` minus the number of values in `value`; below zero once it is used up. */
function count(value: JsonValue, budget: number): number {
  let left = budget - 1
  if (typeof value !== 'object' || value === null) return left
  for (const member of Object.values(value)) {
    if (left < 0) break
    left = count(member, left)
  }
  return left
}

/** The lists of more than `LONG` items that hold one of them twice, found in linear time. */
export function longListsWithRepeats(args: JsonValue): readonly JsonArray[] {
  const numbers = new Map<string, number>()
  const found: JsonArray[] = []
  /** Equal values get the same number; a container is identified by the numbers of its members. */
  const numberOf = (value: JsonValue): number => {
    const key = keyOf(value)
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, numbers.size)
    return numbers.size - 1
  }
  const keyOf = (value: JsonValue): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    if (Array.isArray(value)) {
      const list: JsonArray = value
      const members = list.map(numberOf)
      if (members.length > LONG && new Set(members).size < members.length) found.push(list)
      return `[${members.join()}]`
    }
    const members = Object.entries(value).map(([name, member]) => [name, numberOf(member)] as const)
    members.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${JSON.stringify(members)}}`
  }
  keyOf(args)
  return found
}
