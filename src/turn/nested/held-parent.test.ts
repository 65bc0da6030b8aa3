import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }

/** A turn that asks for a turn inside, on a store in which something happens in between. */
function nested(store: Store, between: Partial<Store>) {
  const looked: unknown[] = []
  const look = sampleTool('look', ({ q }) => String(looked.push(q)))
  const agent = { model: scriptedModel([[{ call: 'look' }], [{ text: 'found' }]]), tools: [look] }
  const research = subAgent({ name: 'research', description: 'Finds things out.', agent })
  const model = scriptedModel([[ask], [{ text: 'so' }]])
  const runner = new TurnRunner({ model, tools: [research], store: { ...store, ...between } })
  return { looked, run: () => runner.run({ message: 'go', conversation: 'k' }) }
}

const idsOf = async (store: Store) => (await store.conversations()).map(({ id }) => id)

describe('a turn inside another', () => {
  it('does not begin when the conversation around it was deleted', async () => {
    const store = memoryStore()
    const find: Store['find'] = async (query) => {
      if (query.conversation === 'k/r1') await store.delete('k')
      return store.find(query)
    }
    const { run, looked } = nested(store, { find })
    expect(await run()).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
    expect([await idsOf(store), looked]).toEqual([[], []])
  })

  it('goes with the conversation around it that is deleted while it begins', async () => {
    const store = memoryStore()
    const acquire: Store['acquire'] = async (id, options) => {
      const lease = await store.acquire(id, options)
      if (id === 'k/r1') await store.delete('k')
      return lease
    }
    const { run, looked } = nested(store, { acquire })
    expect(await run()).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
    expect([await idsOf(store), looked]).toEqual([[], []])
  })

  it('leaves the inner conversation to the runner that has taken the outer one', async () => {
    const store = memoryStore()
    const find: Store['find'] = async (query) => {
      if (query.conversation === 'k/r1') {
        await store.acquire('k', { owner: 'another', force: true })
        await store.acquire('k/r1', { owner: 'another', force: true })
      }
      return store.find(query)
    }
    const { run, looked } = nested(store, { find })
    expect(await run()).toMatchObject({ status: 'failed', reason: { code: 'STORE_FAILED' } })
    expect(await store.conversation('k/r1')).toMatchObject({ holder: { owner: 'another' } })
    expect(looked).toEqual([])
  })
})
