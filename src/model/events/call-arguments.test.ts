import { describe, expect, it } from 'vitest'
import { unparsedArguments } from '../../core/unparsed-arguments.ts'
import { callArguments } from './call-arguments.ts'

const nested = (depth: number, inner: unknown) => {
  let value = inner
  for (let i = 0; i < depth; i++) value = { in: value }
  return { deep: value, inner }
}

describe('callArguments', () => {
  it.each([undefined, null, ''])('takes %j for a call without arguments', (received) => {
    expect(callArguments(received)).toEqual({ args: {} })
  })

  it('gives text and objects alike as strict JSON', () => {
    expect(callArguments('{"a":[1]}')).toEqual({ args: { a: [1] } })
    expect(callArguments({ a: [1] })).toEqual({ args: { a: [1] } })
  })

  it('keeps the text and the reason when it is not strict JSON', () => {
    expect(callArguments('{"a":')).toEqual({
      args: unparsedArguments('{"a":'),
      rawArgs: '{"a":',
      fault: { path: 'args', rule: 'not-json' },
    })
    expect(callArguments({ id: 2 ** 53 })).toEqual({
      args: unparsedArguments('{"id":9007199254740992}'),
      rawArgs: '{"id":9007199254740992}',
      fault: { path: 'args.id', rule: 'unsafe-integer' },
    })
  })

  it('keeps objects apart that JSON.stringify cannot write', () => {
    const one = callArguments(nested(20_000, 1))
    const two = callArguments(nested(20_000, 2))
    expect(one.fault?.rule).toBe('too-deep')
    expect(one.args).not.toEqual(two.args)
    expect(callArguments({ a: 1n }).args).not.toEqual(callArguments({ a: 2n }).args)
  })
})
