import { createInterface } from 'node:readline/promises'
import type { JsonObject } from '../../core/json/json.ts'
import type { Gate } from '../../store/gate.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { GateAnswer } from '../../turn/gates/gate-answer.ts'
import { nameText } from '../terminal/call-text.ts'
import type { Io } from '../terminal/io.ts'
import type { Paint } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { askGrant } from './grant-prompt.ts'
import { mayGrant } from './grant-text.ts'

const TRIES = 5

/** Decides a gate; `undefined` leaves it open. */
export type Decide = (gate: Gate) => Promise<GateAnswer | undefined>

/** What a gate asks, on one line. */
export function gateLine({ args = {}, tool, kind }: Gate, paint: Paint): string {
  const shown = visibleText(JSON.stringify(args))
  return `${paint.yellow('?')} Allow ${paint.bold(nameText(tool ?? kind))} ${shown}`
}

/** The letters that give a grant, and for whom. */
const WHOM = [
  ['c', 'conversation'],
  ['s', 'subject'],
] as const

/** Asks the person at the terminal. With `hasSubject`, an approval can be for all conversations of the turn's subject. */
export function approvalPrompt(io: Io, paint: Paint, hasSubject = false): Decide {
  return async (gate) => {
    const { args = {}, digest } = gate
    // A provider runs its own call with its own arguments.
    const mayEdit = gate.from === 'runner' && gate.kind === 'approval'
    const isInput = gate.kind === 'input'
    const isVisit = gate.kind === 'link' && gate.from === 'runner'
    const screen = new Screen(io)
    screen.line(gateLine(gate, paint))
    for (const line of questionLines(gate)) screen.line(`  ${line}`)
    screen.line(`  ${paint.dim(gate.why)}`)
    // Another program or a person executes the call and answers through the store or the runner.
    if (gate.kind === 'result') return undefined
    const ask = createInterface({
      input: io.stdin,
      output: io.stdout.stream as NodeJS.WritableStream,
    })
    // Ctrl-C at the prompt is a signal like anywhere else: the gate stays open.
    ask.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    // A terminal that is closed ends the question.
    const gone = new Promise<never>((_, reject) => ask.once('close', () => reject(new Error())))
    gone.catch(() => {})
    const asked = (question: string) =>
      Promise.race([ask.question(question, { signal: io.signal }), gone])
    const base = { gate: gate.id, decidedBy: personAt(io), digest }
    const isOffered = (key: string) => mayGrant(gate) && (key === 'c' || hasSubject)
    const subject = hasSubject ? ', [s]ubject' : ''
    const grants = mayGrant(gate) ? ` once, all [c]onversation${subject}` : ''
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const edit = mayEdit ? ', [e]dit' : ''
        const yes = isInput ? '[a]nswer as JSON' : isVisit ? '[d]one' : `[y]es${grants}`
        const question = `  ${yes}, [n]o${edit}, [l]ater: `
        const said = (await asked(question)).trim().toLowerCase()
        if (isVisit && /^d(one)?$/.test(said)) return { ...base, done: true }
        if (isInput && /^a(nswer)?$/.test(said)) {
          const value = readArgs(await asked('  as JSON: '))
          if (value !== undefined) return { ...base, value }
          io.stdout.write('  That is not a JSON object.\n')
        }
        if (!isInput && !isVisit && /^y(es)?$/.test(said)) return { ...base, approve: true }
        const whom = WHOM.find(([key]) => key === said[0] && isOffered(key))
        if (whom !== undefined) {
          const tell = (line: string) => screen.line(`  ${line}`)
          const grant = await askGrant(gate, whom[1], { ask: asked, tell })
          if (grant !== undefined) return { ...base, approve: true, grant }
        }
        if (/^no?$/.test(said)) return { ...base, approve: false }
        if (/^l(ater)?$/.test(said)) return undefined
        if (mayEdit && /^e(dit)?$/.test(said)) {
          const answered = asked('  as JSON: ')
          // The prompt starts with the arguments that were asked.
          ask.write(visibleText(JSON.stringify(args)))
          const edited = readArgs(await answered)
          if (edited !== undefined) return { ...base, approve: true, args: edited }
          io.stdout.write('  That is not a JSON object.\n')
        }
      }
      return undefined
    } catch {
      // The terminal was closed, or Ctrl-C or Ctrl-D was pressed: the gate stays open.
      if (!io.signal.aborted) io.stdout.write('\n')
      return undefined
    } finally {
      ask.close()
    }
  }
}

/** What a gate asks for beside a verdict. All of it is text of others. */
export function questionLines({ message, schema, url }: Gate): readonly string[] {
  return [
    ...(message === undefined ? [] : [visibleText(message)]),
    ...(schema === undefined ? [] : [visibleText(JSON.stringify(schema))]),
    ...(url === undefined ? [] : [visibleText(url), hostLine(url)]),
  ]
}

/** Where a browser goes: the name before an `@` is not the host. */
const hostLine = (url: string): string =>
  `opens ${visibleText(URL.canParse(url) ? new URL(url).host : 'no page')}`

/** Answers every gate the same way, for scripts that say so. A question that needs more than a yes stays open. */
export function fixedAnswer(approve: boolean, io: Io): Decide {
  return async ({ id, digest, kind, from }) => {
    if (approve && kind !== 'approval' && from === 'runner') return undefined
    return { gate: id, digest, approve, decidedBy: personAt(io) }
  }
}

/** The name of the person at the terminal. */
export const personAt = ({ env }: Io) => env['USER'] || env['USERNAME'] || 'command line'

function readArgs(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
