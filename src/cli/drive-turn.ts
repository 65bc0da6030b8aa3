import { isBobbinError } from '../core/error.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { TurnOutcome } from '../turn/outcome.ts'
import type { TurnRunner } from '../turn/turn-runner.ts'
import type { Decide } from './approval-prompt.ts'
import { errorText } from './call-lines.ts'
import { wayOutOf } from './failure.ts'

/** A turn with everything that was decided on its way. */
export interface DrivenTurn {
  readonly outcome: TurnOutcome
  /** The calls of all its parts: those before a decision, and those after it. */
  readonly calls: readonly ToolCall[]
  /** What to do about a failure, where there is something to do. */
  readonly wayOut?: string | undefined
  /** What could not be stored on the way, although the turn went on without it. */
  readonly loss?: string | undefined
}

/** More decisions than any turn needs; a loop without an end would be worse. */
const MAX_ROUNDS = 100

/** Runs a turn to its end, asking for decisions on the way; what nobody decides stays open. */
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
      // Arguments that somebody mistyped decide nothing: the next round asks again.
      if (!isBobbinError(error, 'E_INVALID_DECISION')) throw error
      tell(error.message)
    }
  }
  const all = [...calls.values()]
  return { outcome, calls: all, loss: all.map(lossOf).find((loss) => loss !== undefined) }
}

/** A result that the disk did not take fails its call; whoever decides may go on, but nobody must overlook it. */
function lossOf({ tool, isError, results }: ToolCall): string | undefined {
  const [, reason] = isError ? (UNSTORED.exec(errorText(results)) ?? []) : []
  if (reason === undefined) return undefined
  return `The output of \`${tool}\` could not be stored (${reason}). ${wayOutOf({ code: reason }) ?? ''}`.trim()
}

const UNSTORED = /^The file system refused to change the spool \((\w+)\)/
