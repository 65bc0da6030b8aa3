import { describe, expect, it } from 'vitest'
import { failsOnce } from '../../../test/failing-store.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Executor } from '../executor/executor.ts'
import { TurnRunner } from '../turn-runner.ts'
import { subAgent } from './sub-agent.ts'

/** Calls a tool once, then answers. It keeps what it reads of the call. */
const callsOnce =
  (tool: string, answer: string, read: string[]): Executor =>
  async ({ items }) => {
    const [call] = items.filter(({ type }) => type === 'call')
    if (call === undefined) return { calls: [{ id: 'c1', tool, args: { task: 'charge' } }] }
    read.push(JSON.stringify(call))
    return { answer }
  }

/** Agents in agents; the innermost one charges. */
function tree(depth: number, output: string) {
  const charges: string[] = []
  const read: string[] = []
  const charge = (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
    charges.push(idempotencyKey)
    return output
  }
  let tool: Tool = sampleTool('charge', charge, { effect: 'write', trust: 'first-party' })
  for (let level = 1; level <= depth; level++) {
    const agent = { executor: callsOnce(tool.name, output, read), tools: [tool] }
    tool = subAgent({ name: `agent${level}`, description: 'x', agent, trust: 'first-party' })
  }
  const options = { tools: [tool], executor: callsOnce(tool.name, 'done', read) }
  return { options, charges, read }
}

const IS_TOLD = /Do not repeat it blindly|The call ran, and its result cannot be stored/

/** A turn whose store fails at one point, and the recovery after it if there is one. */
async function play(at: number, depth: number, output: string) {
  const { store, spool, sound, hasFailed } = failsOnce(at)
  const { options, charges, read } = tree(depth, output)
  const runner = new TurnRunner({ ...options, store, spool })
  const first = await runner.run({ conversation: 'k', message: 'go' }).catch(() => undefined)
  const isBegun = (await sound.conversation('k')) !== undefined
  if (first?.status !== 'completed' && isBegun) {
    await runner.recover({ conversation: 'k', force: true })
  }
  const plain = read.filter((call) => call.includes('"isError":true') && !IS_TOLD.test(call))
  const isWrong = charges.length > 1 || (charges.length === 1 && plain.length > 0)
  return { hasFailed: hasFailed(), at, isWrong, charges: charges.length, plain }
}

describe('a sub-agent that charges, when its store fails once', () => {
  it.each([
    ['one deep', 1, 'charged'],
    ['two deep', 2, 'charged'],
    ['one deep, with output on the spool', 1, 'charged '.repeat(10_000)],
    ['two deep, with output on the spool', 2, 'charged '.repeat(10_000)],
  ])('never calls a charge failed that took effect: %s', async (_, depth, output) => {
    const wrong: object[] = []
    for (let at = 1; at < 200; at++) {
      const { hasFailed, isWrong, ...found } = await play(at, depth, output)
      if (!hasFailed) return expect(wrong).toEqual([])
      if (isWrong) wrong.push(found)
    }
    expect.unreachable('the turn asks its store more often than expected')
  })
})
