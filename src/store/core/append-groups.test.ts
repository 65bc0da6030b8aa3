import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { BobbinError } from '../../core/error/error.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import type { NewEntry } from '../entry.ts'
import { memoryDriver } from '../memory/memory-driver.ts'
import type { AppendRequest } from '../rows/append-request.ts'
import type { Appended } from '../store.ts'
import { groupAppends } from './append-groups.ts'
import { createStore } from './create-store.ts'

const note = (message: string): NewEntry => ({
  kind: 'note',
  turnId: 't',
  data: { level: 'info', code: 'X', message },
})

/** An append that notes its words; `act` may refuse them or wait. */
function recorded(act: (words: readonly string[]) => Promise<void> | void = () => {}) {
  const commits: string[][] = []
  let length = 0
  const append = groupAppends(async ({ entries }): Promise<Appended> => {
    const words = entries.map(({ data }) => (data as { message: string }).message)
    await act(words)
    commits.push(words)
    const seq = length + 1
    length += entries.length
    return { seq, time: 7 }
  })
  const add = (word: string, over: Partial<AppendRequest> = {}) =>
    append({ conversation: 'c', epoch: 1, entries: [note(word)], blobs: [], ...over })
  return { commits, add }
}

const refuse = (words: readonly string[]) => {
  if (!words.includes('bad')) return
  const data = { path: 'entry', rule: 'is too large' }
  throw new BobbinError('E_INVALID_STORE_INPUT', 'Too large.', data)
}

const statuses = async (all: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(all)).map(({ status }) => status)

describe('groupAppends', () => {
  it('joins appends of the same step, and those that come during a commit', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const { commits, add } = recorded((words) => (words.includes('a') ? gate : undefined))
    const first = ['a', 'b', 'c'].map((word) => add(word))
    await Promise.resolve()
    const second = ['d', 'e'].map((word) => add(word))
    await new Promise((resolve) => setTimeout(resolve))
    expect(commits).toEqual([])
    release()
    const appended = await Promise.all([...first, ...second])
    expect(commits).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    expect(appended.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    expect(await add('f')).toEqual({ seq: 6, time: 7 })
    expect(commits.at(-1)).toEqual(['f'])
  })

  it('keeps conversations and epochs apart', async () => {
    const { commits, add } = recorded()
    await Promise.all([
      add('a'),
      add('b', { conversation: 'd' }),
      add('c', { epoch: 2 }),
      add('d', { conversation: 'd' }),
    ])
    expect(commits).toEqual([['a'], ['b', 'd'], ['c']])
  })

  it.each([
    [
      ['a', 'bad', 'b'],
      ['fulfilled', 'rejected', 'fulfilled'],
    ],
    [
      ['bad', 'a'],
      ['rejected', 'fulfilled'],
    ],
  ])('stores the others if one is refused: %j', async (words, expected) => {
    const { commits, add } = recorded(refuse)
    expect(await statuses(words.map((word) => add(word)))).toEqual(expected)
    expect(commits.flat()).toEqual(words.filter((word) => word !== 'bad'))
  })

  it('takes more entries and blobs than a function can take arguments', async () => {
    const counts: number[] = []
    const append = groupAppends(async ({ entries, blobs }) => {
      counts.push(entries.length, blobs.length)
      return { seq: 1, time: 0 }
    })
    const request = { conversation: 'c', epoch: 1 }
    const many = Array.from({ length: 200_000 }, () => note('a'))
    const blobs = many.map(() => new Uint8Array())
    await Promise.all([
      append({ ...request, entries: many, blobs }),
      append({ ...request, entries: [note('b')], blobs: [] }),
    ])
    expect(counts).toEqual([200_001, 200_000])
  })

  it.each([
    new BobbinError('E_STORE_UNAVAILABLE', 'Full.', { reason: 'full', detail: '' }),
    new BobbinError('E_STALE_RUNNER', 'Late.', { conversation: 'c', epoch: 1, current: 2 }),
  ])('does not try again after $code', async (fault) => {
    let asked = 0
    const { add } = recorded(() => {
      asked++
      throw fault
    })
    expect(await statuses([add('1'), add('2')])).toEqual(['rejected', 'rejected'])
    expect(asked).toBe(1)
  })

  it('stores calls that end together in one commit of the driver', async () => {
    const driver = memoryDriver()
    let commits = 0
    const store = createStore({
      ...driver,
      append(conversation, epoch, plan) {
        if (plan.entries.some(({ kind }) => kind === 'settlement')) commits++
        return driver.append(conversation, epoch, plan)
      },
    })
    const calls = ['a', 'b', 'c'].map((q) => ({ call: 'echo', args: { q } }))
    const model = scriptedModel([calls, [{ text: 'ok' }]])
    const tools = [sampleTool('echo', ({ q }) => `${q}!`)]
    const outcome = await new TurnRunner({ model, tools, store }).run({ message: 'go' })
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(['ok', 'ok', 'ok'])
    expect(commits).toBe(1)
    expect(await store.count({ kind: 'settlement' })).toBe(3)
  })
})
