import type { Store } from '../../src/store/store.ts'
import type { Executor } from '../../src/turn/executor/executor.ts'
import type { Approve } from '../../src/turn/gates/gate-answer.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { compactOf } from './compact.ts'
import { middlewareOf } from './layers.ts'
import type { Life } from './life.ts'
import type { Approver, Step } from './program.ts'
import { recorded } from './recording.ts'
import { checkHistory, decisionOf } from './script.ts'
import { toolsOf } from './tools.ts'
import { SECRET, type World } from './world.ts'

function approveOf(life: Life, how: Approver): Approve {
  const answers: Record<Approver, () => unknown> = {
    yes: () => true,
    no: () => false,
    edit: () => ({ approve: true, decidedBy: 'ann', args: { n: 9, how: 'ok' } }),
    throw() {
      throw new Error('nobody is there')
    },
    garbage: () => ({ approve: 'yes' }),
    late: () => true,
  }
  return async () => {
    await life.pause(how === 'late' ? 4 : 0)
    return answers[how]() as boolean
  }
}

/** A runner as one process has it. */
export function runnerOf(
  world: World,
  life: Life,
  store: Store,
  steps: readonly Step[],
): TurnRunner {
  const { program, clock, ids } = world
  const { settings } = program
  const { maxTokens, approve } = settings
  const queue = [...steps]
  const executor: Executor = async (ctx, helpers) => {
    await life.pause(1)
    checkHistory(world, life, ctx.conversation, ctx.items)
    const step = queue.shift()
    // What streams may be cut off anywhere, and is stored at the end or not at all.
    helpers.thought({ id: 't', delta: 'so ' })
    helpers.message({ id: 'm', delta: 'do' })
    await life.pause(1)
    helpers.message({ id: 'm', delta: 'ne' })
    return recorded(world.ledger, ctx, helpers, () => decisionOf(step, ctx.items))
  }
  return new TurnRunner({
    executor,
    store,
    tools: toolsOf(world, life),
    policy: settings.policy,
    concurrency: settings.concurrency,
    limits: { ...settings.limits, timeMs: 60_000 },
    repeat: settings.repeat,
    ...(maxTokens !== undefined && { budget: { maxTokens } }),
    ...compactOf(settings, life),
    ...(approve !== undefined && { approve: approveOf(life, approve) }),
    ...(settings.hasSecret && { conversationSecret: SECRET }),
    middleware: middlewareOf(settings.layers, life),
    testing: { clock, ids, sleep: async () => {} },
  })
}
