import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { markedBill, unaskedBill } from './prefix/bill.ts'
import { play, STEPS } from './prefix/play.ts'
import { begins, isPrefix, type Piece, piecesOf, survival } from './prefix/prompt.ts'
import { isThorough } from './runs.ts'
import { APIS } from './wire/provider-samples.ts'

/** Stores for the runners of a conversation: one in memory, or a file that each of them opens anew. */
async function stores(isReloaded: boolean) {
  const memory = memoryStore()
  // A new runner on the same store also begins with nothing but the log, and is quicker.
  if (!isReloaded || !isThorough) return () => memory
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-prefix-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return () => {
    const store = sqliteStore(join(folder, 'c.db'))
    onTestFinished(() => store.close())
    return store
  }
}

/** Who bills by markers, and who sets a breakpoint of its own. Gemini does not say how it caches. */
const BILLS: Readonly<Record<string, (requests: readonly (readonly Piece[])[]) => number>> = {
  'anthropic-messages': markedBill,
  'bedrock-converse': markedBill,
  foundry: unaskedBill,
  'openai-chat': unaskedBill,
  'openai-responses': unaskedBill,
}

// The long turn of a reloaded conversation is live too.
const WAYS = isThorough ? ['live', 'reloaded'] : ['reloaded']

/** The one with the most rules; the deep tests play all. */
const PLAYED = APIS.filter((api) => isThorough || api === 'anthropic-messages')

describe.each(PLAYED)('the requests of a conversation over %s', (api) => {
  it.each(WAYS)('only grow, so that caches hold, %s', async (way) => {
    const isReloaded = way === 'reloaded'
    const bodies = await play(api, await stores(isReloaded), isReloaded)
    expect(bodies).toHaveLength(STEPS.reduce((sum, steps) => sum + steps + 1, 0))
    const pairs = bodies.slice(1).map((later, at) => [bodies[at] ?? {}, later] as const)
    expect(pairs.flatMap((pair, at) => (isPrefix(...pair) ? [] : [at]))).toEqual([])
    expect(Math.min(...pairs.map((pair) => survival(...pair)))).toBeGreaterThanOrEqual(0.98)
    const pieces = bodies.map(piecesOf)
    const marked = pieces.map((all) => all.filter(({ isMarked }) => isMarked).length)
    expect(Math.max(...marked)).toBe(BILLS[api] === markedBill ? 4 : 0)
    expect(BILLS[api]?.(pieces) ?? 0).toBeLessThanOrEqual(0.15)
  })
})

const BUDGETED = PLAYED.filter((api) => ['anthropic-messages', 'openai-responses'].includes(api))

describe.each(BUDGETED)('the requests of a conversation with a budget over %s', (api) => {
  it('begin anew at most once in five turns', async () => {
    const bodies = await play(api, await stores(true), true, { maxTokens: 16_000 })
    const five = bodies.slice((STEPS[0] ?? 0) + 1)
    const isBroken = five.map((body, at) => at > 0 && !begins(five[at - 1] ?? {}, body))
    expect(isBroken.filter(Boolean)).toHaveLength(1)
    // Each step writes what it keeps to the cache again. Measured: 0.164 and 0.177.
    expect(BILLS[api]?.(bodies.map(piecesOf))).toBeLessThanOrEqual(0.18)
  })
})
