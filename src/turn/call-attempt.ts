import type { Clock } from '../core/clock.ts'
import { isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { ExecutionContext, ToolOutput } from '../tools/tool-context.ts'

/** How an attempt at a call ended. */
export interface AttemptEnd {
  readonly settlement: Settlement
  readonly results: ToolCallResults
}

export interface Attempt {
  readonly tool: Tool
  /** The arguments as the model supplied them; the execution's `callId` is their checksum. */
  readonly args: JsonObject
  /** What the handler gets: admission validated it. */
  readonly value: unknown
  readonly context: ExecutionContext
  /** The turn's signal; the attempt ends when it aborts. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly settleOutput: (output: ToolOutput, signal: AbortSignal) => Promise<ToolCallResults>
  /** Hears of a result that came after the call was given up. */
  readonly onLate: (what: 'result' | 'error') => void
  readonly clock: Clock
}

/**
 * Runs a handler until it ends, its time is over or the turn is aborted. A handler that ignores its
 * signal is left behind: its late result is discarded and reported.
 */
export async function attempt(call: Attempt): Promise<AttemptEnd> {
  const { tool, signal } = call
  if (signal.aborted) return gaveUp('aborted', 'The turn was aborted before the call started.')
  const controller = new AbortController()
  let isOver = false
  const work = run(call, controller.signal).finally(() => {
    if (isOver) call.onLate('result')
  })
  return new Promise<AttemptEnd>((resolve) => {
    const finish = (end: AttemptEnd) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(end)
    }
    const giveUp = (settlement: 'timed-out' | 'aborted', text: string) => {
      finish(unsure(tool) ? inDoubt(text) : gaveUp(settlement, text))
      controller.abort(
        new DOMException(text, settlement === 'aborted' ? 'AbortError' : 'TimeoutError'),
      )
    }
    const onAbort = () => giveUp('aborted', 'The turn was aborted while the call ran.')
    const timer = setTimeout(
      () =>
        giveUp('timed-out', `The call did not end within ${call.timeoutMs} ms and was given up.`),
      call.timeoutMs,
    )
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(finish, (error: unknown) => finish(failed(error)))
  })
}

async function run(call: Attempt, signal: AbortSignal): Promise<AttemptEnd> {
  const output = await call.tool.executor({
    ...call.context,
    signal,
    validated: { value: call.value },
    now: () => call.clock.now(),
  })(call.args)
  return { settlement: 'ok', results: await call.settleOutput(output, signal) }
}

/** Nobody knows what a started call did when it must not repeat and did not report. */
const unsure = ({ effect }: Tool) => effect !== 'read' && effect !== 'idempotent'

const gaveUp = (settlement: Settlement, text: string): AttemptEnd => ({
  settlement,
  results: new Tokenizable(text),
})

const inDoubt = (text: string): AttemptEnd =>
  gaveUp(
    'in-doubt',
    `${text} It is not known whether it took effect. Do not repeat it blindly; check first.`,
  )

function failed(error: unknown): AttemptEnd {
  const text = isBobbinError(error) ? error.message : `The call failed: ${String(error)}`
  return gaveUp('failed', text)
}
