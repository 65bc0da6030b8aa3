import { describe, expect, it } from 'vitest'
import { memoryStore } from '../memory/memory-store.ts'
import { redactKeys } from './redact-keys.ts'

describe('redactKeys', () => {
  it.each([undefined, 'password', ['password'], {}])(
    'takes a regular expression, not %j',
    (pattern) => {
      expect(() => redactKeys(pattern as never)).toThrow(
        '`pattern` must be a regular expression, such as `/password|token/i`.',
      )
    },
  )

  it('is what a store asks for when it gets something else', () => {
    expect(() => memoryStore({ redact: /password/ as never })).toThrow(
      '`redact` must be a function, such as `redactKeys(/password|token/i)`.',
    )
  })
})
