import { describe, expect, it } from 'vitest'
import { memoryStore } from '../store/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { REPEAT_LIMITS } from './repeat-guard.ts'
import { runnerSettings, type TurnRunnerOptions } from './runner-options.ts'

const model = scriptedModel([])
const settings = (options: object) => runnerSettings({ model, ...options })

describe('runnerSettings', () => {
  it.each(['maxIterations', 'maxCalls', 'maxTimeMs', 'concurrency', 'timeoutMs'])(
    'refuses a `%s` that is no number of at least 1',
    (name) => {
      for (const value of [0, -1, Number.NaN, null]) {
        expect(() => settings({ [name]: value })).toThrow(`\`${name}: ${value}\``)
      }
      expect(() => settings({ [name]: Number.POSITIVE_INFINITY })).not.toThrow()
    },
  )

  it.each(['hint', 'refuse', 'stop'])('refuses a `repeat.%s` that would guard nothing', (name) => {
    for (const value of [0, Number.NaN, null]) {
      expect(() => settings({ repeat: { [name]: value } })).toThrow(`\`repeat.${name}: ${value}\``)
    }
  })

  it('guards against repeats as always where a limit is left undefined', () => {
    const undecided = { hint: undefined, refuse: undefined, stop: undefined }
    expect(settings({ repeat: undecided }).repeat).toEqual(REPEAT_LIMITS)
    expect(settings({ repeat: { stop: 6 } }).repeat).toEqual({ ...REPEAT_LIMITS, stop: 6 })
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
    expect(() => runnerSettings({} as TurnRunnerOptions)).toThrow('needs a `model`')
    const store = { ...memoryStore(), durable: true }
    expect(() => settings({ store })).toThrow('dies with the process')
  })

  it('refuses a secret that is too short', () => {
    expect(() => settings({ secret: new Uint8Array(31) })).toThrow('32 bytes')
    expect(() => settings({ secret: new Uint8Array(32) })).not.toThrow()
  })
})
