import { text as readAll } from 'node:stream/consumers'
import type { Store } from '../../store/store.ts'
import { command, type Values } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { type Agent, questionsOf } from '../run/agent.ts'
import type { LoadedAgent } from '../run/agent-file.ts'
import type { DrivenTurn } from '../run/drive-turn.ts'
import { writeOutcome } from '../run/json-view.ts'
import { exitCodeOf, openSession, TURN_OPTIONS } from '../run/turn-session.ts'
import { nextSteps, reasonText, summaryLines } from '../run/turn-summary.ts'
import { withAgent } from '../run/with-agent.ts'
import type { Io } from '../terminal/io.ts'
import { outputTo } from '../terminal/output.ts'

const OPTIONS = {
  ...TURN_OPTIONS,
  resume: {
    type: 'string',
    short: 'r',
    value: 'CONVERSATION',
    help: 'Continue a conversation: with a question, or with the decision that it waits for',
  },
  quiet: { type: 'boolean', short: 'q', help: 'Write the answer only' },
} as const

export const run = command({
  name: 'run',
  usage: ['run [question]', 'run --resume CONVERSATION [question]'],
  about:
    'Runs one turn and shows it live. Without a question the agent’s own is asked; `-` reads it from standard input.',
  options: OPTIONS,
  async run({ values, positionals }, io) {
    return withAgent(values, io, (loaded) =>
      withStore(values, io, { create: true }, (store) =>
        runTurn(loaded, values, positionals, io, store),
      ),
    )
  },
})

async function runTurn(
  loaded: LoadedAgent,
  values: Values<typeof OPTIONS>,
  positionals: readonly string[],
  io: Io,
  store: Store,
): Promise<number> {
  const output = values.quiet === true ? { ...io, stdout: outputTo({ write: () => true }) } : io
  const conversation =
    values.resume === undefined ? undefined : (await findConversation(store, values.resume)).id
  const { question, isOwn } = await questionOf(positionals, loaded.agent, io, conversation)
  const unfinished = question === undefined ? conversation : undefined
  const session = await openSession(loaded, values, output, store, unfinished)
  const isFirst = (await store.conversations({ limit: 1 })).length === 0
  const started = performance.now()
  if (values.json !== true) session.screen.line(session.paint.dim(`> ${question ?? 'continue'}`))
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
    // A first turn, and one without a question of its own, is a try: say what there is to see.
    if ((isFirst || isOwn) && turn.outcome.status === 'completed' && turn.loss === undefined) {
      const steps = nextSteps(
        turn,
        {
          isOffline: session.isOffline,
          columns: facts.columns,
          agent: values.agent,
          store: values.store,
          isNpmStart: io.env['npm_lifecycle_event'] === 'start',
          questions: questionsOf(loaded.agent),
        },
        session.paint,
      )
      for (const line of ['', ...steps]) session.screen.line(line)
    }
  }
  return exitCodeOf(turn, io)
}

/** The answer alone on standard output; the reason for a missing one on standard error. */
function tellAnswer(turn: DrivenTurn, io: Io): void {
  const reason = reasonText(turn)
  if (turn.outcome.text !== '') io.stdout.data(`${turn.outcome.text}\n`)
  if (reason !== undefined) io.stderr.write(`bobbin: ${reason}\n`)
}

async function questionOf(
  positionals: readonly string[],
  agent: Agent,
  io: Io,
  conversation: string | undefined,
): Promise<{ readonly question?: string; readonly isOwn: boolean }> {
  const given = positionals.join(' ').trim()
  if (given === '-') return { question: (await readAll(io.stdin)).trim(), isOwn: false }
  if (given !== '') return { question: given, isOwn: false }
  if (conversation !== undefined) return { isOwn: false }
  const [question] = questionsOf(agent)
  if (question !== undefined) return { question, isOwn: true }
  throw usageError(
    'The question is missing: write it after `bobbin run`, or `-` to read it from standard input.',
    'run',
  )
}
