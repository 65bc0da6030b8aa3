import { describe, expect, it } from 'vitest'
import { BobbinError } from '../../core/error/error.ts'
import type { ErrorCode } from '../../core/error/error-codes.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'
import { faultOf } from './failure.ts'

describe('faultOf', () => {
  const coded = (code: string) => new BobbinError(code as 'E_USAGE', '', { command: undefined })

  it.each<[ErrorCode, string]>([
    ['E_STORE_UNAVAILABLE', 'store'],
    ['E_STALE_RUNNER', 'store'],
    ['E_SPOOL_QUOTA', 'store'],
    ['E_SPOOL_INVALID_INPUT', 'refused'],
    ['E_DUPLICATE_ENTRY', 'refused'],
    ['E_PROVIDER_AUTH', 'model'],
    ['E_STREAM_BROKEN', 'model'],
    ['E_INVALID_OUTPUT', 'other'],
  ])('tells whose fault %s is', (code, fault) => {
    expect(faultOf(coded(code))).toBe(fault)
  })

  it('takes what is no error of ours, or has a code of another version, as something else', () => {
    for (const error of [new Error('E_STORE_KEY'), undefined, coded('E_NEW'), coded('toString')]) {
      expect(faultOf(error)).toBe('other')
    }
  })
})

describe('a turn whose store does not take something', () => {
  it('says so when the conversation is deleted under it', async () => {
    const store = memoryStore()
    const executor = async () => {
      await store.delete('c')
      return { answer: 'done' }
    }
    const outcome = await new TurnRunner({ store, executor }).run({
      conversation: 'c',
      message: 'Go.',
    })
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
    expect(outcome.reason?.message).toContain('no conversation `c`')
  })

  it('says so when a message is longer than an entry may be', async () => {
    const runner = new TurnRunner({ model: scriptedModel([]) })
    const outcome = await runner.run({ message: 'x'.repeat(33 * 1024 * 1024) })
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
    expect(outcome.reason?.message).toMatch(/^`message` has \d+ characters as an entry/)
  })
})
