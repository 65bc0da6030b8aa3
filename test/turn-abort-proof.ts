import { memoryStore } from '../src/store/memory/memory-store.ts'
import { eventRecorder } from '../src/testing/event-recorder.ts'
import { scriptedModel } from '../src/testing/scripted-model.ts'
import type { Middleware } from '../src/turn/call/middleware.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { sampleTool } from './turn-samples.ts'

const ticks = async (count: number) => {
  for (let n = 0; n < count; n++) await Promise.resolve()
}

const layered: Middleware = {
  turn: async (_, next) => next(),
  dispatch: async (_, next) => next(),
  async call(_, next) {
    await ticks(2)
    const call = await next()
    await ticks(2)
    return call
  },
}

/** Everything that a turn can wait for, in one turn; without layers, also the shortest way through it. */
function busyTurn(signal: AbortSignal, hasLayers: boolean) {
  const store = memoryStore()
  const startedAfterAbort: string[] = []
  const work = (name: string) => async () => {
    if (signal.aborted) startedAfterAbort.push(name)
    await ticks(5)
    return `${name} did it`
  }
  const model = scriptedModel([
    [
      { thought: 'hm' },
      { call: 'read', id: 'r1' },
      { call: 'write', id: 'w1' },
      { call: 'gated', id: 'g1' },
      { call: 'unknown', id: 'u1' },
      { call: 'alone', id: 'a1' },
      { call: 'read', args: { q: 'x' }, id: 'r2' },
      { call: 'quick', id: 'q1' },
    ],
    [{ call: 'quick', args: { q: 'z' }, id: 'q2' }],
    [{ call: 'write', args: { q: 'y' }, id: 'w2' }],
    [{ text: 'done' }],
  ])
  const runner = new TurnRunner({
    model,
    store,
    policy: 'open',
    middleware: hasLayers ? [layered] : [],
    approve: async () => {
      await ticks(3)
      return { approve: true, decidedBy: 'ann', args: { q: 'edited' } }
    },
    tools: [
      sampleTool('read', work('read')),
      sampleTool('write', work('write'), { effect: 'write' }),
      sampleTool('gated', work('gated'), { effect: 'write', approval: true }),
      sampleTool('alone', work('alone'), { exclusive: true }),
      sampleTool('quick', () => {
        if (signal.aborted) startedAfterAbort.push('quick')
        return 'quick did it'
      }),
    ],
  })
  return { store, runner, startedAfterAbort, recorder: eventRecorder(runner) }
}

/** Runs a turn that waits for everything a turn can wait for, and aborts it after so many microtasks. */
async function abortedAfter(count: number, hasLayers: boolean) {
  const abort = new AbortController()
  const turn = busyTurn(abort.signal, hasLayers)
  const state = { isOver: false }
  const running = turn.runner
    .run({ message: 'go', conversation: 'c', signal: abort.signal })
    .finally(() => (state.isOver = true))
  for (let n = 0; n < count && !state.isOver; n++) await Promise.resolve()
  const wasOver = state.isOver
  abort.abort()
  const outcome = await running
  await ticks(50)
  return { ...turn, outcome, wasOver }
}

async function goesOn(store: ReturnType<typeof memoryStore>) {
  const model = scriptedModel([[{ text: 'still here' }]])
  const outcome = await new TurnRunner({ model, store }).run({ message: 'and?', conversation: 'c' })
  const calls = model.requests[0]?.items.filter(({ type }) => type === 'call') ?? []
  return { outcome, unanswered: calls.filter((item) => !('result' in item)) }
}

/** What is wrong with a turn that was aborted there; empty when everything holds. */
export async function abortFaults(at: number, readsLog: boolean, hasLayers: boolean) {
  const turn = await abortedAfter(at, hasLayers)
  const { outcome, wasOver, store, recorder, startedAfterAbort } = turn
  const faults: string[] = []
  const check = (holds: boolean, fault: string) => {
    if (!holds) faults.push(`after ${at}: ${fault}`)
  }
  check(startedAfterAbort.length === 0, `${startedAfterAbort.join()} started afterwards`)
  const settled = new Set(outcome.toolCalls.map(({ id }) => id))
  const told = recorder.of('toolCall')
  const idsOf = (isComplete: boolean) =>
    told
      .flatMap((call) => (call.isComplete === isComplete ? [call.id] : []))
      .sort()
      .join()
  check(idsOf(true) === idsOf(false), 'what was announced was not completed')
  const started = recorder.of('toolExecutionStart').map(({ toolCallId }) => toolCallId ?? '')
  check(
    started.every((id) => settled.has(id)),
    'a started call did not settle',
  )
  check((await store.openGates('c')).length === 0, 'a gate was left open')
  const isHonest = outcome.status === 'completed' || outcome.reason?.code === 'ABORTED'
  check(isHonest, `it ended ${outcome.status} (${outcome.reason?.code})`)
  if (readsLog) {
    check((await store.verify({ conversation: 'c' })).ok, 'the log is damaged')
    const next = await goesOn(store)
    check(next.outcome.status === 'completed', 'the conversation cannot go on')
    check(next.unanswered.length === 0, 'a call has no result')
  }
  return { faults, status: outcome.status, wasOver }
}
