import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import { approvalPrompt, type Decide, personAt, questionLines } from '../run/approval-prompt.ts'
import { type Io, isInteractive } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'

/** Answers what a call asks: by the options of the command, or at the terminal. */
export function answerer(
  { yes, answers }: { readonly yes?: boolean; readonly answers: readonly JsonObject[] },
  io: Io,
): Decide {
  // Questions go to standard error, so that a pipe gets the result alone.
  const terminal = { ...io, stdout: io.stderr }
  const prompt = isInteractive(terminal)
    ? approvalPrompt(terminal, paintFor(terminal))
    : async () => undefined
  const left = [...answers]
  return async (gate) => {
    const base = { gate: gate.id, decidedBy: personAt(io), digest: gate.digest }
    if (gate.kind === 'approval' && yes === true) return { ...base, approve: true }
    const value = gate.kind === 'input' ? left.shift() : undefined
    return value === undefined ? prompt(gate) : { ...base, value }
  }
}

const WAYS_OUT: Readonly<Record<Gate['kind'], string>> = {
  approval: 'Run the command in a terminal to decide, or pass --yes.',
  input: "Run the command in a terminal to answer, or pass --answer '{…}'.",
  link: 'Run the command in a terminal, open the page, and say that it is done.',
  result: 'Run the command in a terminal to answer.',
}

/** What still waits for a person, and what to do. */
export function openQuestion([gate]: readonly Gate[]): string {
  if (gate === undefined) return 'The call waits for a decision.'
  const lines = gate.kind === 'approval' ? [gate.why] : questionLines(gate)
  return [...lines, WAYS_OUT[gate.kind], 'Nothing is kept of this call.'].join('\n  ')
}
