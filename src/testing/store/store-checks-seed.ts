import assert from 'node:assert/strict'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { SeedOptions } from '../../store/branches.ts'
import { allEntries, rejectsWith, type StoreCheck } from './store-check.ts'

const wire = { provider: 'p', api: 'a', type: 'call', origin: 'natural' } as const
const text = (role: 'user' | 'assistant' | 'system', said: string): HistoryItem => ({
  type: 'message',
  role,
  parts: [{ type: 'text', text: said }],
})
const call = (id: string, more: object): HistoryItem =>
  ({ type: 'call', id, tool: 'add', args: { n: 1 }, wire, executedBy: 'runner', ...more }) as never
const result = (said: string, isError = false) => ({
  result: { isError, parts: [{ type: 'text', text: said }] },
})

const LONG = 'x'.repeat(200)
const IMAGE = { type: 'media', kind: 'image', source: { type: 'base64', data: 'AAEC' } } as const

const HISTORY: readonly HistoryItem[] = [
  text('system', 'Obey.'),
  { type: 'message', role: 'user', parts: [{ type: 'text', text: 'Look.' }, IMAGE] },
  { type: 'thought', text: 'Hm.', response: 'r' },
  call('a', { response: 'r', ...result('one') }),
  call('b', { response: 'r', ...result(LONG, true) }),
  call('a', { response: 's', executedBy: 'provider', ...result('searched') }),
  text('assistant', 'Seen.'),
  text('user', 'More.'),
  { type: 'raw', api: 'a', value: { type: 'item_reference' } },
  call('stray', { resultOnly: true, ...result('of nothing') }),
  call('c', { response: 't' }),
]

const textOf = async (results: unknown) =>
  SpooledArtifact.isSpooledArtifact(results) ? results.asString() : undefined

/** A history that began elsewhere. */
export const storeSeedChecks: readonly StoreCheck[] = [
  {
    name: 'stores a history that began elsewhere as turns with records, and says what it changed',
    async run({ store, again }) {
      const { conversation, entries, repairs } = await store.seed({
        conversation: 'c',
        items: HISTORY,
      })
      assert.equal(conversation, 'c')
      const read = again === undefined ? store : await again()
      const log = await allEntries(read, 'c')
      assert.equal(entries, log.length)
      assert.deepEqual(
        log.map(({ kind }) => kind),
        [
          ...['turn-start', 'note', 'message', 'thought'],
          ...['history-item', 'settlement', 'history-item', 'settlement'],
          ...['history-item', 'settlement', 'message', 'turn-end'],
          ...['turn-start', 'message', 'history-item', 'settlement', 'turn-end'],
        ],
      )
      assert.deepEqual(
        repairs.map(({ kind, item }) => [kind, item]),
        [
          ['left-out', 'message'],
          ['left-out', 'item_reference'],
          ['stray-result', 'stray'],
          ['missing-result', 'c'],
        ],
      )
      const { items } = await read.history({ conversation })
      const calls = items.filter(ToolCall.isToolCall)
      assert.deepEqual(
        calls.map(({ id, settlement, trust, executedBy }) => [id, settlement, trust, executedBy]),
        [
          ['a', 'ok', 'third-party', 'runner'],
          ['b', 'failed', 'third-party', 'runner'],
          ['a~2', 'ok', 'third-party', 'provider'],
          ['c', 'in-doubt', 'third-party', 'runner'],
        ],
      )
      const said = await Promise.all(calls.map(({ results }) => textOf(results)))
      assert.deepEqual(said.slice(0, 3), ['one', LONG, 'searched'])
      assert.deepEqual((await read.verify({ conversation })).faults, [])
      assert.equal((await read.verify({ conversation })).sealed, log.length)
    },
  },
  {
    name: 'refuses a history that it cannot store, and stores nothing of it',
    async run({ store }) {
      await store.acquire('there', { owner: 'test' })
      const seed = (options: unknown) => store.seed(options as SeedOptions)
      await rejectsWith('E_CONVERSATION_EXISTS', seed({ conversation: 'there', items: HISTORY }))
      for (const options of [
        undefined,
        {},
        { items: [] },
        { items: 'text' },
        { items: [null] },
        { items: [{ type: 'other' }] },
        { items: HISTORY, trust: 'system' },
        { items: HISTORY, conversation: '' },
        { items: HISTORY, key: new Uint8Array(3) },
        { items: [text('user', 'x'), call('', result('x'))] },
        { items: [text('user', 'x'), call('a', { wire: {}, ...result('x') })] },
      ]) {
        await rejectsWith('E_INVALID_STORE_INPUT', seed(options), JSON.stringify(options))
      }
      assert.deepEqual(
        (await store.conversations()).map(({ id }) => id),
        ['there'],
      )
    },
  },
]
