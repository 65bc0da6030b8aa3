import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { Gate } from '../../store/gate.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { CheckedDecision, GateAnswer } from './gate-answer.ts'

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

/** Turns are nested less deep than this. */
const MAX_DEPTH = 8

/** The context of the turn that a gate belongs to. A turn that continues another has its context, and so has one inside a call. */
async function turnContextOf(
  store: RunnerStore,
  { conversation, turnId }: Pick<Gate, 'conversation' | 'turnId'>,
): Promise<unknown> {
  let place = { conversation, turnId }
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const first = await store.get(place.conversation, 'turn-start', place.turnId)
    if (first?.data.parent === undefined) {
      const { continues } = first?.data ?? {}
      if (continues === undefined) return first?.data.context
      return (await store.get(place.conversation, 'turn-start', continues))?.data.context
    }
    place = first.data.parent
  }
  return undefined
}
