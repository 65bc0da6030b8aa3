import type { JsonArray, JsonValue } from '../core/json.ts'

/** Lists with more items are compared by their content's number, not item by item. */
export const LONG = 64

/** How many values small arguments may hold, in all their lists and objects. */
const SMALL = 1_000

/** Whether arguments are so few that looking at each of them many times takes no time. */
export function isSmall(args: JsonValue): boolean {
  return count(args, SMALL) >= 0
}

/** What is left of `budget` after one for each value in `value`; below zero once it is used up. */
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
  /** A number that equal values share: containers are known by the numbers of their members. */
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
