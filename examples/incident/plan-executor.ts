import type { CallRequest, DispatchContext, Executor, ExecutorHelpers, ToolCall } from 'bobbin-adk'

/** The next step of a plan: something to say, and calls whose records it needs to continue. */
export interface PlanStep {
  readonly say?: string
  readonly calls: readonly CallRequest[]
}

/** Rules as a program: it yields steps, gets the settled records of their calls, returns the answer. */
export type Plan<Found = string> = AsyncGenerator<PlanStep, Found, readonly ToolCall[]>

export interface PlanOptions {
  /** Milliseconds between two words, so that people see text come in; none unless given. */
  readonly wordMs?: number
}

/**
 * An executor without a model. It holds no state: each iteration runs the plan again from the start over
 * the records so far, which is why a turn continues after a restart.
 */
export function planExecutor(
  planFor: (question: string) => Plan,
  { wordMs = 0 }: PlanOptions = {},
): Executor {
  return async (ctx, helpers) => {
    const { question, records } = thisTurn(ctx)
    const plan = planFor(question)
    const waiting = [...records]
    let step = await plan.next([])
    while (step.done !== true && step.value.calls.length <= waiting.length) {
      step = await plan.next(waiting.splice(0, step.value.calls.length))
    }
    if (step.done === true) {
      await speak(step.value, ctx, helpers, wordMs)
      return { answer: step.value }
    }
    const { say, calls } = step.value
    if (say === undefined) return { calls }
    await speak(say, ctx, helpers, wordMs)
    const parts = [{ type: 'text' as const, text: say }]
    return { items: [{ type: 'message', role: 'assistant', parts }], calls }
  }
}

/** The last question and the records of the calls after it, in the order asked. */
function thisTurn({ items, turnToolCalls }: DispatchContext) {
  const isQuestion = (item: (typeof items)[number]) =>
    item.type === 'message' && item.role === 'user'
  const at = items.findLastIndex(isQuestion)
  const asked = items[at]
  const parts = asked?.type === 'message' ? asked.parts : []
  const byId = new Map(turnToolCalls.map((call) => [call.editOf ?? call.id, call]))
  const records = items.slice(at + 1).flatMap((item) => {
    const call = item.type === 'call' ? byId.get(item.id) : undefined
    return call === undefined ? [] : [call]
  })
  return {
    question: parts.map((part) => (part.type === 'text' ? part.text : '')).join(' '),
    records,
  }
}

async function speak(
  text: string,
  { signal, iteration }: DispatchContext,
  helpers: ExecutorHelpers,
  wordMs: number,
): Promise<void> {
  const id = `text-${iteration}`
  if (wordMs <= 0) return helpers.message({ id, delta: text })
  for (const word of text.match(/\S*\s*/g) ?? []) {
    if (word === '') continue
    signal.throwIfAborted()
    helpers.message({ id, delta: word })
    await new Promise((resolve) => setTimeout(resolve, wordMs))
  }
}
