import { describe, expect, it } from 'vitest'
import { seededRandom } from '../examples/incident/random.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import type { Store } from '../src/store/store.ts'
import type { Tool } from '../src/tools/tool.ts'
import type { Executor } from '../src/turn/executor/executor.ts'
import type { TurnOutcome } from '../src/turn/limits/outcome.ts'
import { subAgent } from '../src/turn/nested/sub-agent.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { sampleTool } from './turn-samples.ts'

const ROUNDS = 40

/** A store that takes its time, as disks do. */
function slowStore(): Store {
  const store = memoryStore()
  const append: Store['append'] = async (...given) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    return store.append(...given)
  }
  return { ...store, append }
}

/** Agents in agents that call, fail, hang and time out as the dice fall, cut off now and then. */
function tree(random: () => number, store: Store) {
  const isSo = (chance: number) => random() < chance
  const upTo = (limit: number) => Math.floor(random() * limit)
  const usage = { inputTokens: 10, outputTokens: 1 }
  const work = () =>
    sampleTool(
      'work',
      async () => {
        if (isSo(0.2)) throw new Error('boom')
        if (isSo(0.2)) return new Promise<string>(() => {})
        await new Promise((resolve) => setTimeout(resolve, upTo(4)))
        return 'x'.repeat(isSo(0.2) ? 100_000 : 10)
      },
      { effect: isSo(0.5) ? 'write' : 'read', timeoutMs: 5 + upTo(10), trust: 'first-party' },
    )
  const decides =
    (names: readonly string[]): Executor =>
    async ({ items }) => {
      if (isSo(0.05)) throw new Error('no decision')
      const isEnough = items.filter(({ type }) => type === 'call').length >= 4
      if (isEnough || isSo(0.3)) return { answer: 'done', usage }
      const calls = Array.from({ length: 1 + upTo(3) }, () => {
        const args = { task: `${random()}` }
        return { tool: names[upTo(names.length)] ?? 'work', args, id: `c${upTo(4)}` }
      })
      return { calls, usage }
    }
  const agent = (depth: number): Tool => {
    const tools = depth > 1 ? [work(), agent(depth - 1)] : [work()]
    const executor = decides(tools.map(({ name }) => name))
    return subAgent({
      name: `agent${depth}`,
      description: 'Has others do it.',
      timeoutMs: isSo(0.3) ? 10 + upTo(40) : 5_000,
      trust: 'first-party',
      agent: { executor, tools, limits: { calls: 6 } },
    })
  }
  const tools = [agent(3), work()]
  const executor = decides(['agent3', 'work'])
  return new TurnRunner({ executor, tools, store, limits: { calls: 6 }, policy: 'open' })
}

/** What must not be found in any conversation when its outermost turn has ended, and what was spent there. */
async function audit(store: Store) {
  const faults: string[] = []
  let spent = 0
  for (const { id } of await store.conversations({ limit: 1_000 })) {
    const [asked, settled] = [new Set<string>(), new Set<string>()]
    let turns = 0
    for await (const { kind, data } of store.entries(id)) {
      if (kind === 'turn-start') {
        turns++
        if ((data.parent === undefined) !== (id === 'k')) faults.push(`${id} has no right parent`)
      } else if (kind === 'turn-end') {
        turns--
        const { inputTokens, nested } = data.usage as unknown as TurnOutcome['usage']
        spent += inputTokens - (nested?.inputTokens ?? 0)
      } else if (kind === 'intent') asked.add(data.id)
      else if (kind === 'history-item' && data.type === 'call') asked.add(data.id)
      else if (kind === 'settlement') settled.add(data['id'] as string)
    }
    if (turns !== 0) faults.push(`${id} has a turn without its end`)
    for (const call of asked) if (!settled.has(call)) faults.push(`${id} has no record of ${call}`)
    const lease = await store.acquire(id, { owner: 'next' }).catch(() => undefined)
    if (lease === undefined) faults.push(`${id} is held`)
    else await store.release(id, lease.epoch)
    for (const { message } of (await store.verify({ conversation: id })).faults)
      faults.push(message)
  }
  return { faults, spent }
}

describe('agents in agents', () => {
  it('settle every call, end every turn and count every request, however they are cut off', async () => {
    const seen = new Map<string, number>()
    for (let round = 1; round <= ROUNDS; round++) {
      const random = seededRandom(round)
      const store = slowStore()
      const runner = tree(random, store)
      const calls = new Map<string, boolean>()
      let told = 0
      runner.on('toolCall', ({ id, isComplete }) => calls.set(id, isComplete))
      runner.observe('iterationEnd', ({ usage }) => {
        told += usage?.inputTokens ?? 0
      })
      const abort = new AbortController()
      if (random() < 0.5) setTimeout(() => abort.abort(), random() * 80)
      const outcome = await runner.run({
        message: 'go',
        conversation: 'k',
        signal: abort.signal,
      })
      const { inputTokens, nested } = outcome.usage
      const { faults, spent } = await audit(store)
      expect({ round, faults, told, spent }).toEqual({
        ...{ round, faults: [] },
        ...{ told: inputTokens, spent: inputTokens },
      })
      expect([...calls.values()]).not.toContain(false)
      const ends = [outcome.status, ...outcome.toolCalls.map(({ settlement }) => settlement)]
      for (const end of nested ? [...ends, 'nested'] : ends) seen.set(end, (seen.get(end) ?? 0) + 1)
    }
    // The dice have shown what this is about.
    const shown = ['completed', 'aborted', 'ok', 'failed', 'in-doubt', 'nested']
    expect(shown.filter((end) => !seen.has(end))).toEqual([])
  }, 30_000)
})
