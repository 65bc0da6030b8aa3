import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { innerTurns } from '../nested/inner-turns.ts'
import { runnerSettings, type TurnRunnerOptions } from './runner-options.ts'

const model = scriptedModel([])
const settings = (options: object) => runnerSettings({ model, ...options }, innerTurns)

describe('runnerSettings', () => {
  it('fills in the defaults', () => {
    expect(settings({})).toMatchObject({
      limits: { iterations: 20, calls: 200, timeMs: 1_800_000 },
      concurrency: 8,
      timeoutMs: 60_000,
      repeat: { hint: 3, refuse: 5, stop: 8 },
      policy: 'default',
      retries: 2,
      middleware: [],
    })
    expect(settings({ limits: { calls: 3 } }).limits).toEqual({
      iterations: 20,
      calls: 3,
      timeMs: 1_800_000,
      tokens: Number.POSITIVE_INFINITY,
      cost: Number.POSITIVE_INFINITY,
    })
  })

  it.each(['iterations', 'calls', 'timeMs'])('refuses `limits.%s` below 1', (name) => {
    for (const value of [0, -1, Number.NaN, null]) {
      expect(() => settings({ limits: { [name]: value } })).toThrow(`it is ${value}`)
    }
    expect(() => settings({ limits: { [name]: Number.POSITIVE_INFINITY } })).not.toThrow()
  })

  it.each(['concurrency', 'timeoutMs'])('refuses a `%s` below 1', (name) => {
    for (const value of [0, -1, Number.NaN, null]) {
      expect(() => settings({ [name]: value })).toThrow(`\`${name}\` of \`TurnRunner\``)
    }
    expect(() => settings({ [name]: Number.POSITIVE_INFINITY })).not.toThrow()
  })

  it.each(['hint', 'refuse', 'stop'])('refuses a `repeat.%s` that would guard nothing', (name) => {
    for (const value of [0, Number.NaN, null]) {
      expect(() => settings({ repeat: { [name]: value } })).toThrow(`\`repeat.${name}\` of`)
    }
  })

  it('guards against repeats as always where a limit is left undefined', () => {
    const defaults = { hint: 3, refuse: 5, stop: 8 }
    const undecided = { hint: undefined, refuse: undefined, stop: undefined }
    expect(settings({ repeat: undecided }).repeat).toEqual(defaults)
    expect(settings({ repeat: { stop: 6 } }).repeat).toEqual({ ...defaults, stop: 6 })
  })

  it('refuses a budget without a number, and retries that are none', () => {
    for (const maxTokens of [undefined, Number.NaN, 0, null]) {
      expect(() => settings({ budget: { maxTokens } })).toThrow('budget.maxTokens')
    }
    for (const retries of [Number.NaN, -1, null]) {
      expect(() => settings({ retries })).toThrow('retries')
    }
    expect(settings({ retries: 0 }).retries).toBe(0)
  })

  it('refuses to be without a model, and a durable store with a spool that is not', () => {
    expect(() => runnerSettings({} as TurnRunnerOptions, innerTurns)).toThrow('needs a `model`')
    const store = { ...memoryStore(), durable: true }
    expect(() => settings({ store })).toThrow('dies with the process')
    expect(() => settings({ store })).toThrow('all machines which use the store share')
  })

  it('refuses a secret that is too short', () => {
    expect(() => settings({ conversationSecret: new Uint8Array(31) })).toThrow('32 random bytes')
    expect(() => settings({ conversationSecret: new Uint8Array(32) })).not.toThrow()
  })
})
