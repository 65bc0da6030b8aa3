import { isBobbinError } from '../core/error.ts'
import { isThenable } from '../core/thenable.ts'
import { errorText } from './error-text.ts'
import type { Decision, ExecutorHelpers } from './executor.ts'
import type { Turn } from './turn.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 60_000

/**
 * Asks the executor; a model that failed before any of its calls was admitted may be asked again. An
 * executor that ignores an abort is left behind.
 */
export function decide(turn: Turn): Promise<Decision> {
  return ask(turn, 0)
}

function ask(turn: Turn, attempt: number): Promise<Decision> {
  try {
    turn.signal.throwIfAborted()
    const deciding: unknown = turn.settings.executor(turn.ctx, helpers(turn, attempt))
    const again = (error: unknown) => askAgain(turn, attempt, error)
    // Rules without a promise are welcome, whatever the type says.
    if (!isThenable(deciding)) return Promise.resolve(deciding as Decision)
    return turn.interruption.watch.orAborted(deciding as PromiseLike<Decision>, again)
  } catch (error) {
    return askAgain(turn, attempt, error)
  }
}

async function askAgain(turn: Turn, attempt: number, error: unknown): Promise<Decision> {
  const { settings, signal } = turn
  if (attempt >= settings.retries || signal.aborted || !isTransient(error)) throw error
  const message = `The model call failed and is tried again: ${errorText(error)}`
  turn.observed.emit('warning', { code: 'MODEL_RETRY', message }, turn.origin)
  // Whoever hears of the failure may abort the turn, and a pause of the application's may not end by it.
  const pause = Promise.resolve(settings.sleep(pauseAfter(error, attempt), signal))
  await turn.interruption.watch.orAborted(pause)
  return ask(turn, attempt + 1)
}

function isTransient(error: unknown): boolean {
  if (isBobbinError(error, 'E_STREAM_BROKEN')) return true
  return isBobbinError(error) && (error.data as { isRetryable?: boolean }).isRetryable === true
}

/** As long as the provider asks for, within reason. */
function pauseAfter(error: unknown, attempt: number): number {
  const { retryAfterMs } = (isBobbinError(error) ? error.data : {}) as { retryAfterMs?: number }
  return Math.min(retryAfterMs ?? FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS)
}

/** The pieces of a second attempt have ids of their own, so that a listener can drop those of the first. */
function helpers(turn: Turn, attempt: number): ExecutorHelpers {
  const { content, origin, iteration } = turn
  const idOf = (id: string) => `${turn.id}/${iteration}.${attempt}/${id}`
  return {
    message: (piece) => content.emit('message', { ...piece, id: idOf(piece.id) }, origin),
    thought: (piece) => content.emit('thought', { ...piece, id: idOf(piece.id) }, origin),
    historyRepair: (repair) => turn.observed.emit('historyRepair', { ...repair }, origin),
    toolInput: (piece) => content.emit('toolInput', { ...piece, id: idOf(piece.id) }, origin),
  }
}
