import { describe, expect, it } from 'vitest'
import { readQuestions } from './questions.ts'

const asked = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `q${i}`,
      { method: 'elicitation/create', params: { message: 'Why?' } },
    ]),
  )

describe('readQuestions', () => {
  it('keeps a state of 256 kB, and refuses a longer one', () => {
    const requestState = 's'.repeat(256 * 1024)
    expect(readQuestions({ requestState }).requestState).toBe(requestState)
    expect(() => readQuestions({ requestState: `${requestState}s` })).toThrow(
      'more than 262144 characters kept',
    )
  })

  it('takes 16 questions, and refuses 17', () => {
    expect(Object.keys(readQuestions({ inputRequests: asked(16) }).requests)).toHaveLength(16)
    expect(() => readQuestions({ inputRequests: asked(17) })).toThrow('more than 16 questions')
  })

  it('refuses what is not offered', () => {
    const inputRequests = { q: { method: 'sampling/createMessage', params: {} } }
    expect(() => readQuestions({ inputRequests })).toThrow('`sampling/createMessage`')
  })
})
