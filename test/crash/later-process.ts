// Background calls and an undo in a process of its own, which dies where it is told. `later-case.ts` starts it.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { killPoints, mortalStore, tell } from './kill-points.ts'
import { storeAt } from './store-at.ts'

/** What the process is told on its command line, as JSON. */
export interface LaterTask {
  readonly act: 'run' | 'recover' | 'undo'
  readonly path: string
  readonly killAt: number
}

const { act, path, killAt } = JSON.parse(process.argv[2] ?? '') as LaterTask
const points = killPoints(killAt)
const conversation = 'c'

/** What happens in the world: a line that stays when the process is killed. */
function happen(what: string): void {
  points.pass(`before ${what}`)
  appendFileSync(`${path}.effects`, `${what}\n`)
  points.pass(`after ${what}`)
}

const inputSchema = z.object({})
const base = { description: 'Works.', inputSchema, trust: 'first-party' } as const

/** Works in the background, first a little longer than the model, then a little shorter. */
const slow = (name: string, effect: 'write' | 'idempotent', ms: number) =>
  new Tool({
    ...base,
    name,
    effect,
    background: true,
    handler: async (_, { toolCallId }) => {
      await sleep(ms)
      happen(`${toolCallId}`)
      return `${name} is done`
    },
    undo: ({ id }) => {
      happen(`undo of ${id}`)
      return 'taken back'
    },
  })

const look = new Tool({ ...base, name: 'look', effect: 'read', handler: () => 'seen' })

const store = mortalStore(storeAt({ path }), points)
const runner = new TurnRunner({
  tools: [slow('charge', 'write', 20), slow('put', 'idempotent', 0), look],
  store,
  // What it says depends on the history alone.
  executor: async ({ items }) => {
    const names = ['charge', 'put', 'look']
    if (!items.some(({ type }) => type === 'call')) {
      return { calls: names.map((tool, at) => ({ id: `call_${at + 1}`, tool, args: {} })) }
    }
    const told = items.filter((item) => 'resultOf' in item).length
    return { answer: told < 2 ? 'I wait.' : 'Done.' }
  },
})
runner.observe('warning', (warning) => tell({ event: 'warning', ...warning }))
runner.observe('error', ({ error, where }) => tell({ event: 'error', where, error: String(error) }))

const perform = async () => {
  if (act === 'run') return runner.run({ conversation, message: 'Go.' })
  if (act === 'undo') return runner.undo({ conversation, toolCallId: 'call_1', decidedBy: 'ann' })
  return runner.recover({ conversation, force: true })
}
const known = act === 'run' || (await store.conversation(conversation)) !== undefined
const outcome = known ? await perform() : { status: 'missing', reason: undefined }
tell({ event: 'points', passed: points.passed })
tell({ event: 'outcome', status: outcome.status, code: outcome.reason?.code })
await store.close()
