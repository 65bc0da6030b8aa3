import { describe, expect, it } from 'vitest'
import { randomSecret, syntheticIds } from './synthetic-id.ts'

const secret = new Uint8Array(32).fill(1)
const place = { ordinal: 0, wireType: 'functionCall', content: '{"args":{},"tool":"f"}' }

describe('syntheticIds', () => {
  it('gives the same id for the same place under the same secret', () => {
    expect(syntheticIds({ secret })(place)).toBe(syntheticIds({ secret })(place))
  })

  it('gives another id for another secret, scope, response, place, type or content', () => {
    const mint = syntheticIds({ secret })
    const ids = [
      mint(place),
      syntheticIds({ secret: randomSecret() })(place),
      syntheticIds({ secret, scope: 'conversation-2' })(place),
      mint({ ...place, response: 'resp_1' }),
      mint({ ...place, ordinal: 1 }),
      mint({ ...place, wireType: 'toolCall' }),
      mint({ ...place, content: '{}' }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('does not let one part run into the next', () => {
    const mint = syntheticIds({ secret })
    const one = mint({ ...place, wireType: 'ab', content: 'c' })
    expect(mint({ ...place, wireType: 'a', content: 'bc' })).not.toBe(one)
  })

  it('uses characters and a length that every provider takes', () => {
    expect(syntheticIds({ secret })(place)).toMatch(/^bob_[a-zA-Z0-9_-]{22}$/)
  })
})
