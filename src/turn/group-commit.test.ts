import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import type { NewEntry } from '../store/entry.ts'
import { memoryStore } from '../store/memory-store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { GroupCommit } from './group-commit.ts'
import { TurnRunner } from './turn-runner.ts'

const note = (message: string): NewEntry => ({
  kind: 'note',
  turnId: 't',
  data: { level: 'info', code: 'X', message },
})

const wordsOf = (entries: readonly NewEntry[]) =>
  entries.map(({ data }) => (data as { message: string }).message)

const limit = () =>
  new BobbinError('E_INVALID_STORE_INPUT', 'Too large.', { path: 'entry', rule: 'is too large' })

describe('GroupCommit', () => {
  it('appends at once what comes at once, and behind it what comes meanwhile', async () => {
    const commits: string[][] = []
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const group = new GroupCommit(async (entries) => {
      commits.push(wordsOf(entries))
      if (commits.length === 1) await gate
    })
    const first = ['a', 'b', 'c'].map((word) => group.add([note(word)], undefined))
    await Promise.resolve()
    const second = ['d', 'e'].map((word) => group.add([note(word)], undefined))
    await new Promise((resolve) => setTimeout(resolve))
    expect(commits).toEqual([['a', 'b', 'c']])
    release()
    await Promise.all([...first, ...second])
    expect(commits).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    await group.add([note('f')], undefined)
    expect(commits.at(-1)).toEqual(['f'])
  })

  it('does not let one that is refused keep the others out', async () => {
    const stored: string[] = []
    const group = new GroupCommit(async (entries) => {
      const words = wordsOf(entries)
      if (words.includes('bad')) throw limit()
      stored.push(...words)
    })
    const all = ['a', 'bad', 'b'].map((word) => group.add([note(word)], undefined))
    const ends = await Promise.allSettled(all)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(stored).toEqual(['a', 'b'])
  })

  it('takes more entries and blobs of a call than a call can be given arguments', async () => {
    const counts: number[] = []
    const group = new GroupCommit(async (entries, blobs = []) => {
      counts.push(entries.length, blobs.length)
    })
    const many = Array.from({ length: 200_000 }, () => note('a'))
    const blobs = many.map(() => new Uint8Array())
    await Promise.all([group.add(many, blobs), group.add([note('b')], undefined)])
    expect(counts).toEqual([200_001, 200_000])
  })

  it('does not let one of two keep the other out', async () => {
    const stored: string[] = []
    const group = new GroupCommit(async (entries) => {
      const words = wordsOf(entries)
      if (words.includes('bad')) throw limit()
      stored.push(...words)
    })
    const all = ['bad', 'a'].map((word) => group.add([note(word)], undefined))
    const ends = await Promise.allSettled(all)
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(stored).toEqual(['a'])
  })

  it.each([
    new BobbinError('E_STORE_UNAVAILABLE', 'Full.', { reason: 'full', detail: '' }),
    new BobbinError('E_STALE_RUNNER', 'Late.', { conversation: 'c', epoch: 1, current: 2 }),
  ])('asks a store that failed no second time: $code', async (fault) => {
    let asked = 0
    const group = new GroupCommit(async () => {
      asked++
      throw fault
    })
    const both = [group.add([note('1')], undefined), group.add([note('2')], undefined)]
    const ends = await Promise.allSettled(both)
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(asked).toBe(1)
  })

  it('stores calls that end side by side in one commit of the turn', async () => {
    const store = memoryStore()
    let commits = 0
    const counting = {
      ...store,
      // Memory has no disk to wait for, and commits each by itself.
      durable: true,
      spool: { ...memorySpool(), durable: true },
      append: (...given: Parameters<typeof store.append>) => {
        if (given[2].some(({ kind }) => kind === 'settlement')) commits++
        return store.append(...given)
      },
    }
    const calls = ['a', 'b', 'c'].map((q) => ({ call: 'echo', args: { q } }))
    const model = scriptedModel([calls, [{ text: 'ok' }]])
    const tools = [sampleTool('echo', ({ q }) => `${q}!`)]
    const outcome = await new TurnRunner({ model, tools, store: counting }).run({ message: 'go' })
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(['ok', 'ok', 'ok'])
    expect(commits).toBe(1)
    expect(await store.count({ kind: 'settlement' })).toBe(3)
  })
})
