import { describe, expect, it } from 'vitest'
import { notFound, staleRunner } from '../store/store-errors.ts'
import { interruptionOf } from './interruption.ts'

describe('interruptionOf', () => {
  it.each([
    ['it has passed to another runner', staleRunner('c', 1, 2), 'passed to another runner'],
    ['it was deleted', notFound('conversation', 'c'), 'was deleted'],
  ])('cuts the turn off when %s', (_, error, message) => {
    const interruption = interruptionOf('c', undefined, 60_000)
    interruption.lose(error)
    expect(interruption.signal.reason).toBe(error)
    expect(interruption.end()).toMatchObject({
      status: 'failed',
      reason: { code: 'STORE_FAILED', message: expect.stringContaining(message) },
    })
    interruption.clear()
  })

  it.each([
    ['a conversation inside it has passed to another runner', staleRunner('c/call_1', 1, 2)],
    ['a conversation inside it was deleted', notFound('conversation', 'c/call_1')],
    ['a gate is not there', notFound('gate', 'c')],
    ['the store cannot be reached', new Error('down')],
  ])('goes on when %s', (_, error) => {
    const interruption = interruptionOf('c', undefined, 60_000)
    interruption.lose(error)
    expect(interruption.signal.aborted).toBe(false)
    interruption.clear()
  })
})
