import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../core/json.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Entry, NewEntry } from '../store/entry.ts'
import { callNote, readLog, taintNote } from './conversation-log.ts'

async function* logOf(entries: readonly NewEntry[]): AsyncGenerator<Entry> {
  for (const [place, entry] of entries.entries()) {
    yield { v: 1, seq: place + 1, time: 0, epoch: 1, digest: '', ...entry }
  }
}

/** As much of a record as reading a log looks at. */
const restore = (json: JsonObject) => json as unknown as ToolCall
const read = (...entries: readonly NewEntry[]) => readLog(logOf(entries), restore)

describe('readLog', () => {
  const [first, third] = (['first-party', 'third-party'] as const).map((tier) =>
    taintNote('t', tier),
  ) as [NewEntry, NewEntry]
  const unreadable = {
    kind: 'note',
    turnId: 't',
    data: { level: 'info', code: 'TAINT', message: 'removed' },
  } as const

  it.each([
    ['no note', [], 'developer'],
    ['a note of our own words', [first], 'first-party'],
    ['a note that says more of trust behind one that says less', [third, first], 'third-party'],
    ['a note of which nothing is left', [unreadable], 'third-party'],
    [
      'a note of a tier that nobody knows',
      [{ ...unreadable, data: { ...unreadable.data, data: { trust: 'royal' } } }],
      'third-party',
    ],
    [
      'a note about something else',
      [{ ...unreadable, data: { ...unreadable.data, code: 'OTHER' } }],
      'developer',
    ],
  ] as const)('finds the least trust of all notes: %s', async (_, notes, taint) => {
    expect((await read(...notes)).taint).toBe(taint)
  })

  it('counts as repeats what the runner ran since the user last spoke', async () => {
    const ran = (checksum: string, executedBy = 'runner'): NewEntry => ({
      kind: 'settlement',
      turnId: 't',
      data: { id: checksum, checksum, executedBy },
    })
    const said = (role: string): NewEntry => ({ kind: 'message', turnId: 't', data: { role } })
    const { recent } = await read(
      ran('old'),
      said('user'),
      ran('a'),
      said('assistant'),
      ran('b', 'provider'),
      ran('a'),
    )
    expect(recent).toEqual(['a', 'a'])
  })

  it('keeps for the model the notes that were meant for it, and no others', async () => {
    const forOperator: NewEntry = {
      kind: 'note',
      turnId: 't',
      data: { level: 'warning', code: 'IN_DOUBT', message: 'look', data: { toolCallId: 'b' } },
    }
    const { notes } = await read(callNote('t', 'a', 'You asked before.'), forOperator)
    expect([...notes]).toEqual([['a', 'You asked before.']])
  })

  it.each([
    [
      { verdict: 'approved', comment: 'fine' },
      { approved: true, reason: 'fine' },
    ],
    [{ verdict: 'edited' }, { approved: true }],
    [{ verdict: 'denied' }, { approved: false }],
    [undefined, { approved: false, reason: 'Nobody decided in time.' }],
  ])('tells a provider how its request was decided: %o', async (decision, told) => {
    const opened = { kind: 'gate-opened', turnId: 't', data: { id: 'g', callId: 'c' } }
    const closed = { kind: 'gate-closed', turnId: 't', data: { id: 'g', decision } }
    const { decisions } = await read(opened as NewEntry, closed as NewEntry)
    expect([...decisions]).toEqual([['c', told]])
  })
})
