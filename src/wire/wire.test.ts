import { describe, expect, it } from 'vitest'
import { isBobbinError } from '../core/error/error.ts'
import { wire } from './index.ts'
import { providers } from './providers.ts'

describe('wire', () => {
  it('refuses a protocol that it does not speak, and names those that it does', () => {
    const speak = () => wire('openai')
    expect(speak).toThrow('`openai` is not a protocol of `wire`: use one of `gemini-interactions`,')
    expect(speak).toThrow(
      expect.toSatisfy(
        (error) =>
          isBobbinError(error, 'E_UNKNOWN_PROTOCOL') && error.data.known.includes('openai-chat'),
      ),
    )
  })

  it.each(providers)('$api: refuses a value that is not a payload', ({ api, history: place }) => {
    for (const payload of [undefined, null, 5, true]) {
      expect(wire(api).validate(payload)).toMatchObject([{ rule: 'shape', path: '' }])
    }
    const history = place?.member ?? ''
    expect(wire(api).validate({ [history]: 5 })).toMatchObject([{ path: history }])
    for (const payload of [[null, {}], { [history]: [5] }]) {
      expect(wire(api).validate(payload)).toMatchObject([{ path: `${history}[0]` }])
    }
  })

  it('does not read a member of one item as a history', () => {
    const item = { type: 'custom_tool_call', call_id: 'c', name: 'sh', input: null }
    const rules = wire('openai-responses').validate(item)
    expect(rules.filter(({ rule }) => rule === 'shape')).toEqual([])
  })

  it('accepts a text if the protocol accepts one as a history', () => {
    expect(wire('openai-responses').validate({ input: 'Hello.' })).toEqual([])
    expect(wire('gemini').validate({ contents: 'Hello.' })).toEqual([])
    expect(wire('gemini').validate({ contents: ['Hello.'] })).toEqual([])
    expect(wire('openai-chat').validate({ messages: 'Hello.' })).toMatchObject([{ rule: 'shape' }])
  })
})
