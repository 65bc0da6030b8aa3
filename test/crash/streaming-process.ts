// A runner in a process of its own that streams text slowly, calls tools and reports progress. Readers elsewhere follow it.
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { type StorePlace, storeAt } from './store-at.ts'

/** What the process does: run a turn, or continue one that another process left. */
export interface StreamingTask {
  readonly place: StorePlace
  readonly do: 'run' | 'recover'
  /** How many times the model is asked. */
  readonly rounds: number
  /** Kills itself in the middle of the text of this round. */
  readonly dieIn?: number
}

const task = JSON.parse(process.argv[2] ?? '') as StreamingTask
const store = storeAt(task.place)

const look = new Tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: z.object({ n: z.number() }),
  effect: 'read',
  handler: async ({ n }, ctx) => {
    for (let part = 1; part <= 3; part++) {
      ctx.progress({ part })
      await sleep(60)
    }
    return `seen ${n}`
  },
})

let round = 0
const runner = new TurnRunner({
  store,
  tools: [look],
  leaseMs: 1500,
  executor: async (_, { message, thought }) => {
    round++
    thought({ id: 't', delta: 'so' })
    for (let n = 0; n < 20; n++) {
      message({ id: 'm', delta: `${round}.${n} ` })
      await sleep(25)
      if (round === task.dieIn && n === 10) process.kill(process.pid, 'SIGKILL')
    }
    if (round < task.rounds) {
      return { calls: [1, 2].map((n) => ({ tool: 'look', args: { n } })) }
    }
    return { answer: Array.from({ length: 20 }, (_each, n) => `${round}.${n} `).join('') }
  },
})
const conversation = 'c'
const outcome =
  task.do === 'run'
    ? await runner.run({ conversation, message: 'go' })
    : await runner.recover({ conversation })
await store.close()
process.stdout.write(`${JSON.stringify({ event: 'outcome', status: outcome.status })}\n`)
