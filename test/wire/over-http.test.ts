import { describe, expect, it, onTestFinished } from 'vitest'
import { isBobbinError } from '../../src/core/error/error.ts'
import type { Finish } from '../../src/model/events/model-event.ts'
import type { Model } from '../../src/model/model.ts'
import { syntheticIds } from '../../src/model/wire/synthetic-id.ts'
import { type LoopbackExchange, loopbackProvider } from '../../src/testing/index.ts'
import { isThorough } from '../runs.ts'
import { loadFixtures } from './fixture.ts'
import { samplesOf } from './provider-samples.ts'

const mint = syntheticIds({ secret: new Uint8Array(32).fill(7) })
const streams = loadFixtures().filter(([, { kind }]) => kind === 'stream')

/** What a whole or broken stream gave: the finish, if there was one, and the code of the error. */
async function outcomeOf(model: Model) {
  let finish: Finish | undefined
  try {
    const text = { type: 'text' as const, text: 'go' }
    const items = [{ type: 'message' as const, role: 'user' as const, parts: [text] }]
    for await (const event of model.stream({ items }, { mint })) {
      if (event.type === 'finish') finish = event
    }
    return { finish }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    return { finish, code: error.code }
  }
}

describe('a stream over HTTP and the official client', () => {
  it.each(streams)('%s gives no call when cut at any event', async (_, { api, events = [] }) => {
    const faults = events.flatMap((_event, at): LoopbackExchange[] => {
      const both = (['cut', 'reset'] as const).map((type) => ({ events, fault: { type, at } }))
      // The deep tests try both ways at each event.
      return isThorough ? both : both.slice(at % 2, (at % 2) + 1)
    })
    const server = await loopbackProvider({ api, exchanges: [{ events }, ...faults] })
    onTestFinished(() => server.close())
    const model = samplesOf(api).open(server.url)
    const { finish: whole, code } = await outcomeOf(model)
    expect({ whole: whole?.type, code }).toEqual({ whole: 'finish', code: undefined })
    for (let played = 0; played < faults.length; played++) {
      const broken = await outcomeOf(model)
      if (broken.finish === undefined) {
        expect(broken.code).toMatch(/^E_(STREAM_BROKEN|PROVIDER_UNREACHABLE)$/)
      } else {
        // Only events after the terminal one were lost.
        expect(broken.finish.items).toEqual(whole?.items)
      }
    }
    expect(server.remaining).toBe(0)
  })
})
