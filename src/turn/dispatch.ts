import { isBobbinError } from '../core/error.ts'
import { askCalls } from './ask-calls.ts'
import type { Decision, ExecutorHelpers } from './executor.ts'
import { entryForItem } from './item-records.ts'
import { limitReached } from './limits.ts'
import { definitionsOf } from './model-executor.ts'
import type { StopReason } from './outcome.ts'
import { settleProviderCalls } from './provider-calls.ts'
import { runBatch } from './run-batch.ts'
import type { DispatchEnd, Turn } from './turn.ts'

/** The loop: ask the executor what to do, do it, and go round until there is an answer or a reason to stop. */
export async function dispatch(turn: Turn): Promise<DispatchEnd> {
  const { observed, origin } = turn
  for (;;) {
    if (turn.signal.aborted) return aborted()
    turn.iteration++
    const limit = limitReached(
      turn.settings.limits,
      { iteration: turn.iteration, calls: turn.order.length, startedAt: turn.startedAt },
      turn.settings.clock,
    )
    if (limit !== undefined) return { status: 'stopped', text: '', reason: limit }
    const short = await turn.request.prepare(
      definitionsOf(turn.ctx.tools),
      turn.ctx.output?.schema,
      (report) => observed.emit('budget', report, origin),
    )
    if (short !== undefined) return { status: 'stopped', text: '', reason: short }
    observed.emit('iterationStart', { iteration: turn.iteration }, origin)
    const decision = await decide(turn)
    addUsage(turn, decision)
    if (turn.signal.aborted) return aborted()
    const calls = 'calls' in decision ? decision.calls.length : 0
    if ('answer' in decision) {
      await recordAnswer(turn, decision)
      observed.emit('iterationEnd', { iteration: turn.iteration, calls }, origin)
      return answered(decision)
    }
    const batch = askCalls(turn, decision)
    const end = await runBatch(turn, batch)
    const waits = await settleProviderCalls(turn, batch.items)
    observed.emit('iterationEnd', { iteration: turn.iteration, calls }, origin)
    if (turn.signal.aborted) return aborted()
    if (end === 'suspended' || waits) return suspended()
    if (end !== undefined) return { status: 'stopped', text: '', reason: end.stop }
  }
}

/** Asks the executor; a model that failed before any of its calls was admitted may be asked again. */
async function decide(turn: Turn): Promise<Decision> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await turn.settings.executor(turn.ctx, helpers(turn, attempt))
    } catch (error) {
      if (attempt >= turn.settings.retries || turn.signal.aborted || !isTransient(error))
        throw error
      const message = `The model call failed and is tried again: ${String(error)}`
      turn.observed.emit('warning', { code: 'MODEL_RETRY', message }, turn.origin)
      await turn.settings.sleep(250 * 2 ** attempt, turn.signal)
    }
  }
}

const TRANSIENT = [
  'E_PROVIDER_UNAVAILABLE',
  'E_PROVIDER_RATE_LIMITED',
  'E_PROVIDER_UNREACHABLE',
  'E_STREAM_BROKEN',
]

const isTransient = (error: unknown) => isBobbinError(error) && TRANSIENT.includes(error.code)

/** The pieces of a second attempt have ids of their own, so that a listener can drop those of the first. */
function helpers(turn: Turn, attempt: number): ExecutorHelpers {
  const { content, origin, iteration } = turn
  const idOf = (id: string) => `${turn.id}/${iteration}.${attempt}/${id}`
  return {
    message: (piece) => content.emit('message', { ...piece, id: idOf(piece.id) }, origin),
    thought: (piece) => content.emit('thought', { ...piece, id: idOf(piece.id) }, origin),
    toolInput: (piece) => content.emit('toolInput', { ...piece, id: idOf(piece.id) }, origin),
  }
}

async function recordAnswer(turn: Turn, decision: Decision & { answer: string }): Promise<void> {
  const response = `${turn.id}/${turn.iteration}`
  const parts = [{ type: 'text', text: decision.answer }] as const
  const spoken = { type: 'message', role: 'assistant', parts } as const
  const items = (decision.items ?? [spoken]).map((item) => ({ ...item, response }))
  const facts = () => ({ turnId: turn.id, id: turn.settings.ids(), at: turn.settings.clock.now() })
  await turn.conversation.append(items.map((item) => entryForItem(item, facts())))
  turn.conversation.items.push(...items)
  await settleProviderCalls(turn, items)
}

function addUsage(turn: Turn, { usage }: Decision): void {
  if (usage === undefined) return
  const add = (a = 0, b = 0) => a + b
  turn.usage = {
    inputTokens: add(turn.usage.inputTokens, usage.inputTokens),
    outputTokens: add(turn.usage.outputTokens, usage.outputTokens),
    cachedInputTokens: add(turn.usage.cachedInputTokens, usage.cachedInputTokens),
    reasoningTokens: add(turn.usage.reasoningTokens, usage.reasoningTokens),
  }
}

/** An answer that the model could not finish is no completed turn. */
function answered({ answer, finish = 'stop' }: Decision & { answer: string }): DispatchEnd {
  if (finish === 'stop' || finish === 'tools') return { status: 'completed', text: answer }
  const message = `The model stopped before its answer was complete (${finish}).`
  return { status: 'stopped', text: answer, reason: { code: 'MODEL_STOPPED', message } }
}

const aborted = (): DispatchEnd => ({
  status: 'aborted',
  text: '',
  reason: { code: 'ABORTED', message: 'The turn was aborted by its signal.' } satisfies StopReason,
})

const suspended = (): DispatchEnd => ({
  status: 'suspended',
  text: '',
  reason: {
    code: 'GATE',
    message: 'The turn waits for a decision: answer `outcome.gates` with `runner.resume`.',
  },
})
