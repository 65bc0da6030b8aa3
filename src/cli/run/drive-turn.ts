import { isBobbinError } from '../../core/error/error.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { TurnOutcome } from '../../turn/limits/outcome.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import { wayOutOf } from '../command/failure.ts'
import { errorText } from '../terminal/call-text.ts'
import type { Decide } from './approval-prompt.ts'

/** A turn with all its parts: before and after each decision. */
export interface DrivenTurn {
  readonly outcome: TurnOutcome
  /** The calls of all its parts: those before a decision, and those after it. */
  readonly calls: readonly ToolCall[]
  /** How to fix a failure, if the user can. */
  readonly wayOut?: string | undefined
  /** An output that could not be stored, although the turn continued without it. */
  readonly loss?: string | undefined
}

/** More decisions than any turn needs; a loop without an end would be worse. */
const MAX_ROUNDS = 100

/** Runs a turn to its end and asks for decisions on the way; undecided gates stay open. */
export async function driveTurn(
  runner: TurnRunner,
  start: () => Promise<TurnOutcome>,
  decide: Decide | undefined,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (refusal: string) => void },
): Promise<DrivenTurn> {
  const calls = new Map<string, ToolCall>()
  let outcome = await start()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (const call of outcome.toolCalls) calls.set(call.id, call)
    if (outcome.status !== 'suspended' || decide === undefined) break
    const { conversation, gates } = outcome
    const decisions = []
    for (const gate of gates) {
      const answer = gate.state === 'pending' ? await decide(gate) : undefined
      if (answer !== undefined) decisions.push(answer)
    }
    if (decisions.length === 0 || signal.aborted) break
    try {
      outcome = await runner.resume({ conversation, decisions, signal })
    } catch (error) {
      const isNotAllowed = isBobbinError(error, 'E_DECISION_NOT_ALLOWED')
      // Edited arguments that do not fit decide nothing: the next round asks again.
      if (!isNotAllowed && !isBobbinError(error, 'E_INVALID_DECISION')) throw error
      tell(error.message)
      // Another answer of the same person is refused too.
      if (isNotAllowed) break
    }
  }
  const all = [...calls.values()]
  return { outcome, calls: all, loss: all.map(lossOf).find((loss) => loss !== undefined) }
}

/** A result that could not be stored fails its call. The turn may continue, but the user must see the loss. */
function lossOf({ tool, isError, results }: ToolCall): string | undefined {
  const [, reason] = isError ? (UNSTORED.exec(errorText(results)) ?? []) : []
  if (reason === undefined) return undefined
  return `The output of \`${tool}\` could not be stored (${reason}). ${wayOutOf({ code: reason }) ?? ''}`.trim()
}

const UNSTORED = /^The file system refused to change the spool \((\w+)\)/
