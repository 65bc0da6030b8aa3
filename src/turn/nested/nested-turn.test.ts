import { describe, expect, it } from 'vitest'
import { diesBehind } from '../../../test/mortal-store.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

const ask = { call: 'research', args: { task: 'find out' }, id: 'r1' }

describe('settingsInside', () => {
  it('keeps no turn from recovering when an agent cannot be set up in it', async () => {
    const spool = { ...memorySpool(), durable: true }
    const store = { ...memoryStore(), durable: true, spool }
    const agent = { model: scriptedModel([]), spool: memorySpool() }
    const tools = [subAgent({ name: 'research', description: 'Finds things out.', agent })]
    const { mortal, died } = diesBehind(store, ({ kind }, id) => kind === 'intent' && id === 'k')
    void new TurnRunner({ model: scriptedModel([[ask]]), tools, store: mortal }).run({
      message: 'go',
      conversation: 'k',
    })
    await died
    const next = new TurnRunner({ model: scriptedModel([[{ text: 'so' }]]), tools, store })
    const outcome = await next.recover({ conversation: 'k', force: true })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ settlement: 'in-doubt' }] })
  })
})
