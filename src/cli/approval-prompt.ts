import { createInterface } from 'node:readline/promises'
import type { JsonObject } from '../core/json.ts'
import type { Gate } from '../store/gate.ts'
import { visibleText } from '../text/visible-text.ts'
import type { GateAnswer } from '../turn/gate-answer.ts'
import type { Io } from './io.ts'
import type { Paint } from './paint.ts'

const TRIES = 5

/** Decides a gate; nothing leaves it open. */
export type Decide = (gate: Gate) => Promise<GateAnswer | undefined>

/** Asks whoever sits at the terminal. */
export function approvalPrompt(io: Io, paint: Paint): Decide {
  return async (gate) => {
    const { args = {}, tool = gate.type, digest } = gate
    const shown = visibleText(JSON.stringify(args))
    io.stdout.write(`${paint.yellow('?')} Allow ${paint.bold(visibleText(tool))} ${shown}\n`)
    const ask = createInterface({ input: io.stdin, output: io.stdout as NodeJS.WritableStream })
    // Ctrl-C at the prompt is a signal like anywhere else: the gate stays open.
    ask.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    // A terminal that goes away leaves a question that nobody answers.
    const gone = new Promise<never>((_, reject) => ask.once('close', () => reject(new Error())))
    gone.catch(() => {})
    const asked = (question: string) =>
      Promise.race([ask.question(question, { signal: io.signal }), gone])
    const base = { gate: gate.id, decidedBy: decider(io), digest }
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const question = '  [y]es, [n]o, [e]dit the arguments, [l]ater: '
        const said = (await asked(question)).trim().toLowerCase()
        if (/^y(es)?$/.test(said)) return { ...base, approve: true }
        if (/^no?$/.test(said)) return { ...base, approve: false }
        if (/^l(ater)?$/.test(said)) return undefined
        if (/^e(dit)?$/.test(said)) {
          const answered = asked('  as JSON: ')
          // What was asked stands there already, to be changed.
          ask.write(shown)
          const edited = readArgs(await answered)
          if (edited !== undefined) return { ...base, approve: true, args: edited }
          io.stdout.write('  That is not a JSON object.\n')
        }
      }
      return undefined
    } catch {
      // The terminal went away, or Ctrl-C or Ctrl-D was pressed; nobody has decided.
      if (!io.signal.aborted) io.stdout.write('\n')
      return undefined
    } finally {
      ask.close()
    }
  }
}

/** Answers every gate the same way, for scripts that say so. */
export function fixedAnswer(approve: boolean, io: Io): Decide {
  return async ({ id, digest }) => ({ gate: id, digest, approve, decidedBy: decider(io) })
}

const decider = ({ env }: Io) => env['USER'] || env['USERNAME'] || 'command line'

function readArgs(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
