// A runner in a process of its own, which dies where it is told. `crashCase` starts it.
import OpenAI from 'openai'
import { z } from 'zod'
import { openaiResponses } from '../../src/providers/openai/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import type { ToolContext } from '../../src/tools/tool-context.ts'
import type { ToolOptions } from '../../src/tools/tool-options.ts'
import { subAgent } from '../../src/turn/nested/sub-agent.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import type { Effect } from './effects-server.ts'
import { killPoints, mortalStore, tell } from './kill-points.ts'
import { caseName, type RunnerTask } from './runner-task.ts'
import { storeAt } from './store-at.ts'

const task = JSON.parse(process.argv[2] ?? '') as RunnerTask
const points = killPoints(task.killAt)
// Time stands still, so that records of different runs can be compared digest by digest.
const clock = { now: () => Date.UTC(2026, 0, 2) }
const conversation = 'c'
const NOT_FOUND = { status: 'failed', toolCalls: [], reason: { code: 'NOT_FOUND' } }

async function act(tool: string, n: number, ctx: ToolContext): Promise<string> {
  points.pass(`before handler ${ctx.toolCallId}`)
  const text = `${tool} ${n} is done`
  const effect: Effect = { tool, call: ctx.toolCallId ?? '', key: ctx.idempotencyKey, text }
  const reply = await fetch(task.effectsUrl, { method: 'POST', body: JSON.stringify(effect) })
  await reply.text()
  points.pass(`after handler ${ctx.toolCallId}`)
  return text
}

async function find(key: string) {
  points.pass('before reconcile')
  const reply = await fetch(`${task.effectsUrl}?key=${encodeURIComponent(key)}`)
  const [effect] = ((await reply.json()) as { readonly found: readonly Effect[] }).found
  points.pass('after reconcile')
  return effect === undefined
    ? { happened: 'no' as const }
    : { happened: 'yes' as const, output: effect.text }
}

const inputSchema = z.object({ n: z.number() })
type Options = Partial<ToolOptions<typeof inputSchema>>
const tool = (name: string, options: Options = {}) =>
  new Tool({
    name,
    description: `Does what ${name} does.`,
    inputSchema,
    trust: 'first-party',
    handler: ({ n }, ctx) => act(name, n, ctx),
    ...options,
  })

const tools = [
  tool('look_up', { effect: 'read' }),
  tool('post'),
  tool('put', { effect: 'idempotent' }),
  tool('charge', { effect: 'write' }),
  tool('transfer', { effect: 'write', reconcile: find }),
  tool('refund', { effect: 'write', approval: true }),
  tool('alone', { effect: 'idempotent', exclusive: true }),
  tool('report', {
    effect: 'read',
    inline: false,
    handler: async ({ n }, ctx) => `${await act('report', n, ctx)}\n`.repeat(5000),
  }),
]

const client = new OpenAI({ apiKey: 'test', baseURL: task.modelUrl, maxRetries: 0 })
const store = mortalStore(storeAt(task.place, { clock }), points)
const model = openaiResponses({ client, model: 'gpt-5.4' })
const delegate = subAgent({
  name: 'delegate',
  description: 'Does a part of it.',
  agent: { model, tools, instructions: caseName(task.scope) },
  trust: 'first-party',
})
const instructions = caseName(task.scope)
const runner = new TurnRunner({
  model,
  tools: [...tools, delegate],
  store,
  testing: { clock },
  instructions,
  policy: 'open',
})
runner.observe('warning', (warning) => tell({ event: 'warning', ...warning }))
runner.observe('error', ({ error, where }) => tell({ event: 'error', where, error: String(error) }))

const outcome = await perform()
tell({ event: 'points', passed: points.passed })
tell({ event: 'outcome', ...outcome, toolCalls: outcome.toolCalls.map(({ id }) => id) })
await store.close()

async function perform() {
  if (task.act === 'run') return runner.run({ conversation, message: 'Do all twenty.' })
  if (task.act === 'recover') {
    if ((await store.conversation(conversation)) === undefined) return NOT_FOUND
    return runner.recover({ conversation, force: true })
  }
  const gates = await store.openGates(conversation)
  const pending = gates.filter(({ state }) => state === 'pending')
  const decisions = pending.map(({ id }) => ({ gate: id, approve: true, decidedBy: 'ann' }))
  return runner.resume({ conversation, decisions })
}
