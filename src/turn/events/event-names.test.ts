import { describe, expect, it } from 'vitest'
import { TurnRunner } from '../turn-runner.ts'

const runner = new TurnRunner({ executor: async () => ({ answer: 'Yes.' }) })
const hear = (way: 'on' | 'observe', name: string, listener: unknown = () => {}) =>
  way === 'on'
    ? runner.on(name as never, listener as never)
    : runner.observe(name as never, listener as never)

describe('checkListener', () => {
  it('refuses a name that no event has, and lists those that there are', () => {
    expect(() => hear('on', 'toolcall')).toThrow(
      '`runner.on` has no event `toolcall`. Its events are message, thought, toolInput, toolCall.',
    )
    expect(() => hear('observe', 'end')).toThrow(/Its events are turnStart, turnEnd, .*, error\.$/)
  })

  it('points from one bus to the other', () => {
    expect(() => hear('on', 'toolExecutionEnd')).toThrow('Use `runner.observe` for this one.')
    expect(() => hear('observe', 'toolCall')).toThrow('Use `runner.on` for this one.')
  })

  it('refuses a listener that cannot be called', () => {
    expect(() => hear('on', 'message', 'log')).toThrow(
      expect.objectContaining({ code: 'E_INVALID_LISTENER', data: { event: 'message' } }),
    )
  })
})
