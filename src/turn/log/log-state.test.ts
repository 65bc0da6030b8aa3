import { describe, expect, it } from 'vitest'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { Entry, NewEntry } from '../../store/entry.ts'
import { entryOf, factOf, taintNote } from './fact.ts'
import { LogState } from './log-state.ts'

/** The state after reading a log. */
function read(...entries: readonly object[]): LogState {
  const state = new LogState()
  for (const [place, entry] of entries.entries()) {
    const stored = { v: 1, seq: place + 1, time: 5, epoch: 1, digest: '', turnId: 't', ...entry }
    state.apply([factOf(stored as Entry, { spool: memorySpool() })], stored.seq)
  }
  return state
}

const wire = { provider: 'p', api: 'a', type: 'function_call', origin: 'natural' } as const
const call = (id: string, more: object = {}) => ({
  kind: 'history-item',
  data: { type: 'call', id, tool: 'pay', args: {}, wire, executedBy: 'runner', ...more },
})
const intent = (id: string, more: object = {}) => ({
  kind: 'intent',
  data: {
    id,
    tool: 'pay',
    args: {},
    checksum: 'sum',
    idempotencyKey: `c/${id}`,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...more,
  },
})
const settlement = (id: string, more: object = {}) => ({
  kind: 'settlement',
  data: {
    id,
    tool: 'pay',
    args: {},
    results: 'done',
    isComplete: true,
    isError: false,
    settlement: 'ok',
    executedBy: 'runner',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    completedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  },
})
const opened = (id: string, toolCallId: string) => ({
  kind: 'gate-opened',
  data: { id, toolCallId },
})
const closed = (id: string) => ({ kind: 'gate-closed', data: { id, outcome: 'consumed' } })
const said = (role: string) => ({
  kind: 'message',
  data: { id: `m-${role}`, role, content: 'Hello', createdAt: '2026-01-01T00:00:00.000Z' },
})
const end = (status: string) => ({ kind: 'turn-end', data: { status } })
const start = { kind: 'turn-start', data: {} }

describe('LogState', () => {
  const [first, third] = (['first-party', 'third-party'] as const).map((tier) =>
    entryOf(taintNote(tier), 't'),
  ) as [NewEntry, NewEntry]
  const unreadable = { kind: 'note', data: { level: 'info', code: 'TAINT', message: 'removed' } }

  it.each([
    ['no note', [], 'developer'],
    ['a note about first-party content', [first], 'first-party'],
    ['a note with more trust after one with less', [third, first], 'third-party'],
    ['a note without its data', [unreadable], 'third-party'],
    [
      'a note with an unknown tier',
      [{ ...unreadable, data: { ...unreadable.data, data: { trust: 'royal' } } }],
      'third-party',
    ],
    [
      'a note about something else',
      [{ ...unreadable, data: { ...unreadable.data, code: 'OTHER' } }],
      'developer',
    ],
  ] as const)('finds the least trust of all notes: %s', (_, notes, taint) => {
    expect(read(...notes).taint).toBe(taint)
  })

  it('counts as repeats the calls of the runner since the last message of the user', () => {
    const state = read(
      settlement('old', { tool: 'old' }),
      said('user'),
      settlement('a'),
      said('assistant'),
      settlement('b', { executedBy: 'provider' }),
      settlement('c'),
    )
    const sum = state.shown.get('a')?.checksum
    expect(state.recent).toEqual([sum, sum])
  })

  it.each([
    ['asked', [call('c')], { at: 'asked' }],
    ['waiting', [call('c'), opened('g', 'c')], { at: 'waiting', gate: 'g' }],
    ['started', [call('c'), intent('c')], { at: 'started', intent: { id: 'c' } }],
    [
      'held',
      [call('c'), intent('c'), opened('g', 'c'), opened('h', 'c')],
      { at: 'held', gates: ['g', 'h'] },
    ],
    [
      'held, with one gate closed',
      [call('c'), intent('c'), opened('g', 'c'), opened('h', 'c'), closed('g')],
      { at: 'held', gates: ['h'] },
    ],
    [
      'started again, with all gates closed',
      [call('c'), intent('c'), opened('g', 'c'), closed('g')],
      { at: 'started' },
    ],
  ])('knows a call that is %s', (_, entries, state) => {
    expect(read(...entries).open.get('c')).toMatchObject(state)
  })

  it('keeps no state of a call that has its record', () => {
    const { open, shown } = read(call('c'), intent('c'), settlement('c'))
    expect([open.size, shown.get('c')?.settlement]).toEqual([0, 'ok'])
  })

  it('makes the call that a person edited from its intent, and shows its record in place of the original', () => {
    const edited = [call('c'), opened('g', 'c'), closed('g'), settlement('c')]
    const started = read(...edited, intent('d', { editOf: 'c', args: { to: 'bob' } }))
    expect([...started.open]).toMatchObject([
      ['d', { at: 'started', call: { item: { id: 'd', args: { to: 'bob' } }, editOf: 'c' } }],
    ])
    const { shown } = read(
      ...edited,
      intent('d', { editOf: 'c' }),
      settlement('d', { editOf: 'c' }),
    )
    expect(shown.get('c')?.id).toBe('d')
  })

  it('counts a doubt until another record supersedes it', () => {
    const doubt = settlement('c', { settlement: 'in-doubt', isError: true })
    expect(read(call('c'), doubt).doubts.map(({ id }) => id)).toEqual(['c'])
    expect(read(call('c'), doubt, settlement('d', { supersedes: 'c' })).doubts).toEqual([])
  })

  it('knows every id that was used', () => {
    const { ids } = read(call('c'), intent('d', { editOf: 'c' }), settlement('e'))
    expect(['c', 'd', 'e', 'f'].map((id) => ids.has(id))).toEqual([true, true, true, false])
  })

  it.each([
    ['nothing', [], { is: 'silent', before: undefined }],
    ['a start alone', [start], { is: 'silent', before: undefined }],
    ['an end', [start, said('user'), end('completed')], { is: 'ended', status: 'completed' }],
    [
      'a start after an end',
      [start, said('user'), end('suspended'), start],
      { is: 'silent', before: 'suspended' },
    ],
    [
      'a silent turn that was aborted after an end',
      [start, said('user'), end('completed'), start, end('aborted')],
      { is: 'silent', before: 'completed' },
    ],
    ['a message', [start, said('user')], { is: 'broken-off', isCut: false }],
    [
      'a response without a whole answer',
      [
        start,
        said('assistant'),
        { kind: 'note', data: { level: 'info', code: 'NO_ANSWER', message: 'cut' } },
      ],
      { is: 'broken-off', isCut: true },
    ],
  ])('says how a log ends: %s', (_, entries, expected) => {
    expect(read(...entries).end).toEqual(expected)
  })
})
