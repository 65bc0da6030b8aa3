import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SpooledArtifact } from '../src/artifacts/spooled-artifact.ts'
import { memorySpool } from '../src/spool/memory-spool.ts'
import { memoryStore } from '../src/store/memory/memory-store.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import type { Tool } from '../src/tools/tool.ts'
import type { Executor } from '../src/turn/executor/executor.ts'
import type { TurnInput } from '../src/turn/loop/turn-input.ts'
import type { TurnRunnerOptions } from '../src/turn/options/runner-options.ts'
import {
  abortedIn,
  callsOnce,
  endOf,
  FAILURES,
  HANGS,
  image,
  type Misdeed,
} from './hostile-parts.ts'
import { sampleTool } from './turn-samples.ts'

/** A part that an application passes in, and how a turn ends in which it misbehaves. */
interface Seam {
  readonly with: (misdeed: Misdeed) => Partial<TurnRunnerOptions>
  readonly input?: (misdeed: Misdeed) => Partial<TurnInput>
  readonly fails: readonly unknown[]
  /** How it ends when the part hangs and the turn is aborted; left out where a layer is always waited for. */
  readonly hangs?: readonly unknown[] | 'like a failure, for nobody waits'
}

const tool = (options: object = {}, give: () => unknown = () => 'x'): { tools: Tool[] } => ({
  tools: [sampleTool('t', give as () => string, options)],
})
const schema = (validate: Misdeed) => {
  const { '~standard': standard } = z.object({})
  return { '~standard': { ...standard, validate } } as unknown as z.ZodObject
}
/** Behind the first `count` uses, which work. */
const after = <T>(count: number, works: (at: number) => T, misdeed: Misdeed): (() => T) => {
  let uses = 0
  return () => (uses < count ? works(uses++) : misdeed())
}
const asksOnce: Executor = async ({ iteration }) =>
  iteration === 1 ? { calls: [{ tool: 't', args: {} }] } : { answer: 'ok' }
const LONG = 'x'.repeat(200_000)
const ABORTED = ['aborted', 'ABORTED']

const SEAMS: Record<string, Seam> = {
  handler: {
    with: (misdeed) => tool({}, misdeed),
    fails: ['completed', 'failed'],
    hangs: [...ABORTED, 'aborted'],
  },
  'secret source': {
    with: (secrets) => ({
      secrets,
      tools: [sampleTool('t', (_, ctx) => ctx.secret('key'))],
    }),
    fails: ['completed', 'failed'],
    hangs: [...ABORTED, 'aborted'],
  },
  'input schema': {
    with: (misdeed) => tool({ inputSchema: schema(misdeed) }),
    fails: ['completed', 'refused'],
    hangs: [...ABORTED, 'aborted'],
  },
  'approval of a tool': {
    with: (approval) => tool({ approval }),
    fails: ['completed', 'refused'],
    hangs: [...ABORTED, 'aborted'],
  },
  '`approve` of the runner': {
    with: (approve) => ({ ...tool({ approval: true }), approve }),
    fails: ['completed', 'denied'],
    hangs: [...ABORTED, 'aborted'],
  },
  '`inline` of a tool': {
    with: (inline) => tool({ inline }),
    fails: ['completed', 'ok'],
    hangs: 'like a failure, for nobody waits',
  },
  'methods of an artifact class': {
    with: (misdeed) => {
      class Own extends SpooledArtifact {}
      const names = ['head', 'tail', 'cat', 'line', 'grep', 'asString'] as const
      for (const name of names) Own.prototype[name] = misdeed
      return tool({ artifactConstructor: () => Own }, () => LONG)
    },
    fails: ['completed', 'ok'],
    hangs: [...ABORTED, 'ok'],
  },
  'spool, over a result': {
    with: (write) => ({ ...tool({}, () => LONG), spool: { ...memorySpool(), write } }),
    fails: ['completed', 'failed'],
    hangs: [...ABORTED, 'aborted'],
  },
  'spool, over media': {
    with: (write) => ({ ...tool({}, () => image()), spool: { ...memorySpool(), write } }),
    fails: ['completed', 'failed'],
    hangs: [...ABORTED, 'aborted'],
  },
  executor: {
    with: (executor) => ({ model: undefined as never, executor }),
    fails: ['failed', 'EXECUTOR_FAILED'],
    hangs: ABORTED,
  },
  'stream of a model': {
    with: (next) => ({
      model: {
        ...{ api: 'own', provider: 'own', model: 'own' },
        stream: () => ({ [Symbol.asyncIterator]: () => ({ next }) }),
      },
    }),
    fails: ['failed', 'EXECUTOR_FAILED'],
    hangs: ABORTED,
  },
  'pause before a model is asked again': {
    with: (sleep) => ({ model: scriptedModel([{ breaksOff: true }]), testing: { sleep } }),
    fails: ['failed', 'EXECUTOR_FAILED'],
    hangs: ABORTED,
  },
  'middleware of a turn': {
    with: (turn) => ({ ...tool(), middleware: [{ turn }] }),
    fails: ['failed', 'MIDDLEWARE'],
    hangs: ABORTED,
  },
  'middleware of a dispatch': {
    with: (dispatch) => ({ ...tool(), middleware: [{ dispatch }] }),
    fails: ['failed', 'MIDDLEWARE'],
    hangs: ABORTED,
  },
  'middleware of a call': {
    with: (call) => ({ ...tool(), middleware: [{ call }] }),
    fails: ['completed', 'refused'],
    hangs: [...ABORTED, 'aborted'],
  },
  'middleware behind a turn': {
    with: (misdeed) => ({ ...tool(), middleware: [{ turn: behind(misdeed) }] }),
    fails: ['failed', 'MIDDLEWARE', 'ok'],
  },
  'middleware behind a dispatch': {
    with: (misdeed) => ({ ...tool(), middleware: [{ dispatch: behind(misdeed) }] }),
    fails: ['failed', 'MIDDLEWARE', 'ok'],
  },
  'middleware behind a call': {
    with: (misdeed) => ({ ...tool(), middleware: [{ call: behind(misdeed) }] }),
    fails: ['completed', 'ok'],
  },
  'output schema': {
    with: () => ({ model: scriptedModel([[{ text: '{}' }]]) }),
    input: (misdeed) => ({ output: schema(misdeed) }),
    fails: ['failed', 'OUTPUT_REJECTED'],
    hangs: ABORTED,
  },
  'clock, from the start': {
    with: (now) => ({ ...tool(), testing: { clock: { now } } }),
    fails: ['completed', 'ok'],
    hangs: 'like a failure, for nobody waits',
  },
  'clock, while a call runs': {
    with: (misdeed) => ({
      ...tool(),
      testing: { clock: { now: after(3, () => Date.now(), misdeed) } },
    }),
    fails: ['completed', 'ok'],
    hangs: 'like a failure, for nobody waits',
  },
  'source of ids, from the start': {
    with: (ids) => ({ ...tool(), testing: { ids } }),
    fails: ['E_INVALID_RUNNER'],
    hangs: 'like a failure, for nobody waits',
  },
  'source of ids, for a call': {
    with: (misdeed) => {
      const ids = after(2, (at) => `id-${at}`, misdeed)
      return { ...tool(), model: undefined as never, executor: asksOnce, testing: { ids } }
    },
    fails: ['failed', 'EXECUTOR_FAILED'],
    hangs: 'like a failure, for nobody waits',
  },
}

function behind(misdeed: Misdeed) {
  return async (_: unknown, next: () => Promise<unknown>) => {
    await next()
    return misdeed()
  }
}

describe.each(Object.entries(SEAMS))('a turn whose %s misbehaves', (_, seam) => {
  const play = (misdeed: Misdeed, input: Partial<TurnInput> = {}) =>
    endOf({ store: memoryStore(), ...seam.with(misdeed) }, { ...seam.input?.(misdeed), ...input })

  const isUnwaited = typeof seam.hangs === 'string'
  const failures = isUnwaited ? [...FAILURES, ...HANGS] : FAILURES

  it.each(failures)('comes to a known end when it %s', async (__, misdeed) => {
    expect(await play(misdeed)).toEqual(seam.fails)
  })

  const hangs = seam.hangs === undefined || isUnwaited ? [] : HANGS
  it.each(hangs)('ends by an abort when it %s', async (__, hang) => {
    const { misdeed, signal } = abortedIn(hang)
    expect(await play(misdeed, { signal })).toEqual(seam.hangs)
  })
})

describe('listeners', () => {
  it.each([...FAILURES, ...HANGS])('cost their turn nothing when one %s', async (_, misdeed) => {
    expect(await endOf({ ...tool(), model: callsOnce() }, {}, misdeed)).toEqual(['completed', 'ok'])
  })
})
