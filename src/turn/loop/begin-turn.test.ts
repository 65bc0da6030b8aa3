import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { TurnRunner } from '../turn-runner.ts'

type Way = 'run' | 'stream' | 'resume' | 'recover'

/** Begins a turn as a caller without types might, and tells how it is refused. */
async function refusalOf(way: Way, input: unknown): Promise<string> {
  const store = memoryStore()
  const runner = new TurnRunner({ executor: async () => ({ answer: 'Yes.' }), store })
  try {
    if (way === 'stream') for await (const _ of runner.stream(input as never));
    else await runner[way](input as never)
    return 'not refused'
  } catch (error) {
    expect(await store.conversations()).toEqual([])
    const { code, message } = error as Error & { code?: string }
    return `${code}: ${message}`
  }
}

describe('requireInput', () => {
  it.each(['run', 'stream', 'resume', 'recover'] as const)(
    'refuses %s of what is no input',
    async (way) => {
      for (const input of [undefined, null, 'Why?']) {
        expect(await refusalOf(way, input)).toBe(
          'E_INVALID_TURN_INPUT: The input of the turn must be an object, such as `{ message }`.',
        )
      }
    },
  )

  it.each([
    [{ messages: [] }, /`messages` of the turn is not known: pass the new message as `message`/],
    [{ turnId: 't' }, /`turnId` of the turn goes with a `conversation`/],
    [{ whenBusy: 'queue' }, /`whenBusy` of the turn goes with a `conversation`/],
    [{ conversation: 'c', whenBusy: 'wait' }, /must be `refuse`, `queue` or `steer`/],
    [{ sginal: null }, /`sginal` of the turn is not known: use `conversation`, `message`/],
  ])('refuses unknown members: %j', async (members, refusal) => {
    expect(await refusalOf('run', { message: 'Why?', ...members })).toMatch(refusal)
    expect(await refusalOf('stream', { message: 'Why?', ...members })).toMatch(refusal)
  })

  it.each(['run', 'stream'] as const)('lets %s go without a signal by null', async (way) => {
    expect(await refusalOf(way, { message: 'Why?', signal: null })).toBe('not refused')
  })

  it('takes no conversation from its holder for a word that is no boolean', async () => {
    expect(await refusalOf('recover', { conversation: 'c', force: 'no' })).toBe(
      'E_INVALID_TURN_INPUT: `force` of the turn must be true or false, or be left out.',
    )
  })

  it('asks for the signal, not for what has one', async () => {
    const refusal =
      'E_INVALID_TURN_INPUT: `signal` of the turn must be an AbortSignal, such as `controller.signal`, or be left out.'
    const input = { message: 'Why?', signal: new AbortController() }
    expect(await refusalOf('run', input)).toBe(refusal)
    expect(await refusalOf('stream', input)).toBe(refusal)
  })

  it.each(['resume', 'recover'] as const)('refuses %s of nothing in particular', async (way) => {
    expect(await refusalOf(way, {})).toBe(
      'E_INVALID_TURN_INPUT: `conversation` of the turn must be a string.',
    )
  })
})
