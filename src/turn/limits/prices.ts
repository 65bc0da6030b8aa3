import { isObject } from '../../core/error/wrong-input.ts'
import type { Usage } from '../../model/events/model-event.ts'

/** What a million tokens of a model cost, in the currency of your choice. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Input from a cache; as `input` unless given. */
  readonly cached?: number
  /** Input that was written to a cache; as `input` unless given. */
  readonly cacheWrite?: number
}

/** The prices of models, by their names. */
export type Prices = Readonly<Record<string, Price>>

const MEMBERS = ['input', 'output', 'cached', 'cacheWrite']
const PER = 1_000_000

/** Whether a value is a table of prices. */
export function isPrices(value: unknown): boolean {
  // A list, a map or a date is an object too, and has no prices.
  if (Object.prototype.toString.call(value) !== '[object Object]') return false
  return Object.values(value as object).every((price: unknown) => {
    if (!isObject(price)) return false
    const isAmount = (amount: unknown) =>
      typeof amount === 'number' && Number.isFinite(amount) && amount >= 0
    const { input, output } = price as Partial<Price>
    const members = Object.entries(price)
    const areKnown = members.every(([name, amount]) => MEMBERS.includes(name) && isAmount(amount))
    return areKnown && isAmount(input) && isAmount(output)
  })
}

/** The price of a model; undefined if the table has none. */
export const priceOf = (prices: Prices | undefined, model: string): Price | undefined =>
  prices !== undefined && Object.hasOwn(prices, model) ? prices[model] : undefined

/** What a response cost. */
export function costOf(price: Price, usage: Usage): number {
  const { input, output, cached = input, cacheWrite = input } = price
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
  const sum =
    plain * input +
    cachedInputTokens * cached +
    cacheWriteTokens * cacheWrite +
    outputTokens * output
  return sum / PER
}
