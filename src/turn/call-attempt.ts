import type { Clock } from '../core/clock.ts'
import { isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { ToolCallResults } from '../records/tool-call-results.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { ExecutionContext, ToolOutput } from '../tools/tool-context.ts'
import { errorText } from './error-text.ts'
import { MAX_TIMER_MS } from './interruption.ts'

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
  /** Keeps out of an error what nobody must read. */
  readonly clean: (text: string) => string
  /** Hears of the call's own signal before the handler gets it. */
  readonly onStart?: (signal: AbortSignal) => void
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
  if (signal.aborted) return NOT_STARTED
  const controller = new AbortController()
  call.onStart?.(controller.signal)
  return new Promise<AttemptEnd>((resolve) => {
    let isOver = false
    const finish = (end: AttemptEnd) => {
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
      Math.min(call.timeoutMs, MAX_TIMER_MS),
    )
    signal.addEventListener('abort', onAbort, { once: true })
    run(call, controller.signal).then(
      (end) => (isOver ? call.onLate('result') : finish(end)),
      (error: unknown) => {
        if (!isOver) finish(failed(error, call.clean))
        else if (!isObedience(error, controller.signal)) call.onLate('error')
      },
    )
  })
}

/** How a call ends that the turn's abort kept from starting. */
export const NOT_STARTED: AttemptEnd = {
  settlement: 'aborted',
  results: new Tokenizable('The turn was aborted before the call started. It was not run.'),
}

async function run(call: Attempt, signal: AbortSignal): Promise<AttemptEnd> {
  const output = await call.tool.executor({
    ...call.context,
    signal,
    validated: { value: call.value },
    now: () => call.clock.now(),
  })(call.args)
  // Nobody waits any more: whatever came is not wound onto the spool.
  if (signal.aborted) {
    if (output instanceof ReadableStream) await output.cancel().catch(() => {})
    return NOT_STARTED
  }
  return { settlement: 'ok', results: await call.settleOutput(output, signal) }
}

/** A handler that stops because it was told to is not late. */
function isObedience(error: unknown, { reason }: AbortSignal): boolean {
  const thrown = isBobbinError(error, 'E_TOOL_DOWNSTREAM_ERROR') ? error.cause : error
  const name = (thrown as { readonly name?: unknown } | null)?.name
  return thrown === reason || name === 'AbortError' || name === 'TimeoutError'
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

function failed(error: unknown, clean: (text: string) => string): AttemptEnd {
  const text = errorText(error, clean)
  return gaveUp('failed', isBobbinError(error) ? text : `The call failed: ${text}`)
}
