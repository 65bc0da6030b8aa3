import { text as readAll } from 'node:stream/consumers'
import type { Store } from '../../store/store.ts'
import { command, type Values } from '../command.ts'
import type { DrivenTurn } from '../drive-turn.ts'
import { findConversation } from '../find-record.ts'
import type { Io } from '../io.ts'
import { writeOutcome } from '../json-view.ts'
import { withStore } from '../store-location.ts'
import { exitCodeOf, openSession, TURN_OPTIONS, type TurnSession } from '../turn-session.ts'
import { nextSteps, reasonText, summaryLines } from '../turn-summary.ts'
import { usageError } from '../usage-error.ts'

const OPTIONS = {
  ...TURN_OPTIONS,
  resume: {
    type: 'string',
    short: 'r',
    value: 'CONVERSATION',
    help: 'Go on with a conversation: with a question, or where it waits for a decision',
  },
  quiet: { type: 'boolean', short: 'q', help: 'Write the answer only' },
} as const

export const run = command({
  name: 'run',
  usage: ['run [question]', 'run --resume CONVERSATION [question]'],
  about:
    'Runs one turn and shows it live. Without a question the agent’s own is asked; `-` reads it from standard input.',
  options: OPTIONS,
  run: ({ values, positionals }, io) =>
    withStore(values, io, { create: true }, (store) => runTurn(values, positionals, io, store)),
})

async function runTurn(
  values: Values<typeof OPTIONS>,
  positionals: readonly string[],
  io: Io,
  store: Store,
): Promise<number> {
  const output = values.quiet === true ? { ...io, stdout: { write: () => true } } : io
  const session = await openSession(values, output, store)
  const conversation =
    values.resume === undefined ? undefined : (await findConversation(store, values.resume)).id
  const question = await questionOf(positionals, session, io, conversation)
  const started = performance.now()
  if (values.json !== true) session.screen.line(session.paint.dim(`> ${question ?? 'going on'}`))
  const turn = await session.drive((runner) => {
    const { signal } = io
    if (question === undefined && conversation !== undefined) {
      return runner.resume({ conversation, decisions: [], signal })
    }
    const place = conversation === undefined ? {} : { conversation }
    return runner.run({ message: question ?? '', signal, ...place })
  })
  const facts = {
    durationMs: performance.now() - started,
    promptBytes: session.promptBytes(),
    store: session.store,
    columns: session.screen.columns,
  }
  if (values.json === true) writeOutcome(io, turn)
  else if (values.quiet === true) tellAnswer(turn, io)
  else {
    session.screen.endText()
    for (const line of summaryLines(turn, facts, session.paint)) session.screen.line(line)
    if (session.isBuiltIn && turn.outcome.status === 'completed' && turn.loss === undefined) {
      const { isOffline, paint } = session
      const { columns } = facts
      const again = io.env['npm_lifecycle_event'] === 'start' ? 'npm start --' : 'npx bobbin run'
      const steps = nextSteps(turn, { isOffline, columns, store: values.store, again }, paint)
      for (const line of ['', ...steps]) session.screen.line(line)
    }
  }
  return exitCodeOf(turn, io)
}

/** The answer alone; where there is none, why, and not where the answer would be. */
function tellAnswer(turn: DrivenTurn, io: Io): void {
  const reason = reasonText(turn)
  if (turn.outcome.text !== '') io.stdout.write(`${turn.outcome.text}\n`)
  if (reason !== undefined) io.stderr.write(`bobbin: ${reason}\n`)
}

async function questionOf(
  positionals: readonly string[],
  { agent }: TurnSession,
  io: Io,
  conversation: string | undefined,
): Promise<string | undefined> {
  const given = positionals.join(' ').trim()
  if (given === '-') return (await readAll(io.stdin)).trim()
  if (given !== '') return given
  if (conversation !== undefined) return undefined
  if (agent.question !== undefined) return agent.question
  throw usageError(
    'There is no question: write it behind `bobbin run`, or `-` to read it from standard input.',
    'run',
  )
}
