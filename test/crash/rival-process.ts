// A runner that fights for a conversation with another process. `two-runners.test.ts` starts it.
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Store } from '../../src/store/store.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { tell } from './kill-points.ts'
import { type StorePlace, storeAt } from './store-at.ts'

/** What a rival is told on its command line, as JSON. */
export interface RivalTask {
  readonly name: string
  readonly place: StorePlace
  /** `hold` waits in its handler for a file; `take` recovers by force; `storm` takes it again and again. */
  readonly act: 'hold' | 'take' | 'storm'
  readonly flag: string
}

const task = JSON.parse(process.argv[2] ?? '') as RivalTask
const store = storeAt(task.place)
const conversation = 'c'

const wait = new Tool({
  name: 'wait',
  description: 'Waits.',
  inputSchema: z.object({}),
  effect: 'idempotent',
  trust: 'first-party',
  handler: async () => {
    for (let i = 0; task.act === 'hold' && i < 2000 && !existsSync(task.flag); i++) await sleep(10)
    return `${task.name} has waited`
  },
})

function runnerOn(shared: Store) {
  return new TurnRunner({
    store: shared,
    tools: [wait],
    executor: async ({ iteration }) =>
      iteration <= 2
        ? { calls: Array.from({ length: iteration }, () => ({ tool: 'wait', args: {} })) }
        : { answer: `${task.name} is done` },
  })
}

if (task.act === 'storm') {
  const acquire: Store['acquire'] = (id, options) => store.acquire(id, { ...options, force: true })
  const runner = runnerOn({ ...store, acquire })
  for (let round = 0; round < 8; round++) {
    const { status, reason } = await runner.run({ conversation, message: `${task.name} ${round}` })
    tell({ event: 'round', status, code: reason?.code })
  }
} else {
  const runner = runnerOn(store)
  const outcome =
    task.act === 'hold'
      ? await runner.run({ conversation, message: 'Hold on.' })
      : await runner.recover({ conversation, force: true })
  tell({ event: 'outcome', status: outcome.status, text: outcome.text, reason: outcome.reason })
}
await store.close()
