import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../test/turn-samples.ts'
import { BobbinError } from '../core/error/error.ts'
import { memoryStore } from '../store/memory/memory-store.ts'
import type { RunnerStore } from '../store/store.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { engineTurns } from './engine-turns.ts'

const attempt = { conversation: 'c', isFirst: true, length: 0 }
const request = { turnId: 't', body: JSON.stringify({ message: 'go', attachments: [] }) }

/** A store that is away from the first append that holds an entry of this kind, until it is back. */
function storeLostAt(kind: string) {
  const store = memoryStore()
  const state = { isAway: false, isBack: false }
  const append: RunnerStore['append'] = async (conversation, epoch, entries, blobs) => {
    if (!state.isBack && entries.some((entry) => entry.kind === kind)) state.isAway = true
    if (state.isAway && !state.isBack) {
      throw new BobbinError('E_STORE_UNAVAILABLE', 'away', { reason: 'other', detail: 'away' })
    }
    return store.append(conversation, epoch, entries, blobs)
  }
  return { store: { ...store, append }, state }
}

describe('the turns of an engine', () => {
  it.each(['turn-start', 'message', 'intent', 'settlement'])(
    'run a message once, also if the store went away at its %s',
    async (kind) => {
      let ran = 0
      const tools = [sampleTool('count', () => `${++ran}`, { effect: 'idempotent' })]
      const script = [[{ call: 'count', id: 'a' }], [{ text: 'done' }]]
      const { store, state } = storeLostAt(kind)
      const model = scriptedModel(script)
      const runner = new TurnRunner({ store, tools, model })
      await expect(engineTurns(runner).run(attempt, request)).rejects.toThrow('away')
      state.isBack = true
      const outcome = await engineTurns(runner).run({ ...attempt, isFirst: false }, request)
      expect(outcome).toMatchObject({ status: 'completed', text: 'done' })
      const again = await engineTurns(runner).run({ ...attempt, isFirst: false }, request)
      expect(again).toMatchObject({ status: 'completed', text: 'done' })
      const { items } = await store.history({ conversation: 'c' })
      const messages = items.filter((item) => 'role' in item && item.role === 'user')
      expect(messages).toHaveLength(1)
    },
  )
})
