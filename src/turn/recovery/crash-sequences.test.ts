import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { CallItem, OpenCallItem } from '../../records/history-item.ts'
import type { Entry } from '../../store/entry.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'

/** A store whose process dies behind its how-manieth append: what was stored stays, nothing comes after. */
function mortal(store: Store, appends: number): Store {
  let left = appends
  const dead = () => Promise.reject(new Error('the process is gone'))
  return {
    ...store,
    append: (...args) => (left-- > 0 ? store.append(...args) : dead()),
    release: dead,
  }
}

async function log(store: Store): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of store.entries('k')) entries.push(entry)
  return entries
}

const again = { conversation: 'k', force: true }
const go = { conversation: 'k', message: 'go' }
const at = {
  provider: 'p',
  api: 'scripted',
  type: 'search',
  origin: 'natural',
  callId: 's1',
} as const
const searched: CallItem = {
  type: 'call',
  id: 's1',
  tool: 'web_search',
  args: { q: 'x' },
  wire: at,
  executedBy: 'provider',
  result: { isError: false, parts: [{ type: 'text', text: 'found it' }] },
}

/** Dies behind every append of a run in turn, recovers each time, and gives what each came to. */
async function everywhere<T>(play: (store: Store, death: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let death = 3; death < 12; death++) results.push(await play(memoryStore(), death))
  return results
}

describe('a process that dies', () => {
  it('leaves no call of the provider without its record', async () => {
    const settled = await everywhere(async (store, death) => {
      const steps = [[{ item: searched }, { call: 'look', id: 'c1' }], [{ text: 'so' }]]
      const tools = [sampleTool('look', () => 'seen')]
      const first = new TurnRunner({
        model: scriptedModel(steps),
        tools,
        store: mortal(store, death),
      })
      await first.run(go)
      const model = scriptedModel([[{ text: 'so' }], ...steps])
      await new TurnRunner({ model, tools, store }).recover(again)
      const entries = await log(store)
      return entries.flatMap(({ kind, data }) =>
        kind === 'settlement' ? [(data as { id: string }).id] : [],
      )
    })
    for (const ids of settled) expect(ids.toSorted()).toEqual(['c1', 's1'])
  })

  it('leaves no request of the provider without its gate', async () => {
    const { id, tool, args } = searched
    const gate = { kind: 'approval' } as const
    const item: OpenCallItem = {
      type: 'openCall',
      id,
      tool,
      args,
      wire: at,
      executedBy: 'provider',
      gate,
    }
    const outcomes = await everywhere(async (store, death) => {
      const first = new TurnRunner({
        model: scriptedModel([[{ item }]]),
        store: mortal(store, death),
      })
      await first.run(go)
      const model = scriptedModel([])
      return new TurnRunner({ model, store }).recover(again)
    })
    for (const { status, gates } of outcomes)
      expect([status, gates.length]).toEqual(['suspended', 1])
  })

  it('has its unfinished reading of an artifact done again', async () => {
    const store = memoryStore()
    const tools = [sampleTool('report', () => 'a\nb\nc', { inline: false })]
    const steps = [
      [{ call: 'report', id: 'c1' }],
      [{ call: 'artifact_head', id: 'c2', args: { callId: 'c1' } }],
    ]
    await new TurnRunner({ model: scriptedModel(steps), tools, store: mortal(store, 5) }).run(go)
    const model = scriptedModel([[{ text: 'so' }]])
    const outcome = await new TurnRunner({ model, tools, store }).recover(again)
    expect(outcome.toolCalls).toMatchObject([
      { id: 'c2', settlement: 'ok', fromArtifactTool: true },
    ])
  })
})

describe('a turn', () => {
  it.each([
    ['write', ['model-call history-item intent', 'settlement']],
    ['read', ['model-call history-item', 'settlement intent']],
  ] as const)('commits twice for a %s call: before it and behind it', async (effect, commits) => {
    const store = memoryStore()
    const made: string[] = []
    const counting: Store = {
      ...store,
      append: (conversation, epoch, entries, blobs) => {
        made.push(entries.map(({ kind }) => kind).join(' '))
        return store.append(conversation, epoch, entries, blobs)
      },
    }
    const tools = [sampleTool('work', () => 'a small result', { effect })]
    const model = scriptedModel([[{ call: 'work', id: 'c1' }], [{ text: 'so' }]])
    await new TurnRunner({ model, tools, store: counting }).run(go)
    expect(made).toEqual(['turn-start', 'message', ...commits, 'model-call message', 'turn-end'])
  })
})
