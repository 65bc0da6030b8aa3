import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { Gate } from '../../store/gate.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { CheckedDecision, GateAnswer } from './gate-answer.ts'
import { turnContextOf } from './turn-context-of.ts'

/**
 * Says whether a decision may be taken. Anything but `true` refuses it, and the gate stays open; a string is the reason. An
 * error refuses it too.
 */
export type MayDecide<Context = unknown> = (
  gate: Gate,
  decision: GateAnswer,
  ctx: {
    /** What the application passed to `run` as `context`, for the turn that asks. */
    readonly context: Context
  },
) => boolean | string | Promise<boolean | string>

interface Rules {
  readonly store: RunnerStore
  readonly mayDecide: MayDecide | undefined
}

/** Asks about every decision of a list before one of them counts. */
export async function requireAllowed(
  { store, mayDecide }: Rules,
  answers: Iterable<CheckedDecision>,
): Promise<void> {
  if (mayDecide === undefined) return
  for (const { gate, answer } of answers) {
    const context = await turnContextOf(store, gate)
    let verdict: unknown
    try {
      verdict = await mayDecide(gate, answer, { context })
    } catch (error) {
      throw notAllowed(gate.id, `\`mayDecide\` failed: ${thrownText(error)}`, error)
    }
    if (verdict !== true) throw notAllowed(gate.id, typeof verdict === 'string' ? verdict : '')
  }
}

function notAllowed(gate: string, reason: string, cause?: unknown): BobbinError {
  const why = reason === '' ? '' : ` The reason given: ${reason}`
  const message = `The decision on gate \`${gate}\` is not allowed. Nothing was decided, and the gate stays open.${why}`
  const data = { gate, ...(reason !== '' && { reason }) }
  return new BobbinError('E_DECISION_NOT_ALLOWED', message, data, cause ? { cause } : undefined)
}
