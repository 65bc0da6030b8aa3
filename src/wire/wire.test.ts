import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../core/error.ts'
import { type WireApi, wire } from './index.ts'

describe('wire', () => {
  it('refuses a protocol that it does not speak, and names those that it does', () => {
    const speak = () => wire('openai' as WireApi)
    expect(speak).toThrow(
      '`openai` is no protocol that `wire` speaks: use one of `openai-responses`, `openai-chat`,',
    )
    expect(speak).toThrow(
      expect.toSatisfy(
        (error) =>
          isBobbinError(error, 'E_UNKNOWN_PROTOCOL') && error.data.known.includes('openai-chat'),
      ),
    )
  })
})
