import { createInterface } from 'node:readline'
import { type BobbinError, isBobbinError } from '../../core/error/error.ts'
import type { Store } from '../../store/store.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import { command, type Values } from '../command/command.ts'
import { findConversation } from '../command/find-record.ts'
import { withStore } from '../command/store-location.ts'
import type { LoadedAgent } from '../run/agent-file.ts'
import type { DrivenTurn } from '../run/drive-turn.ts'
import { writeOutcome } from '../run/json-view.ts'
import { exitCodeOf, openSession, TURN_OPTIONS, type TurnSession } from '../run/turn-session.ts'
import { reasonText } from '../run/turn-summary.ts'
import { withAgent } from '../run/with-agent.ts'
import { nameText } from '../terminal/call-text.ts'
import { EXIT, type Io, isInteractive } from '../terminal/io.ts'
import { forTerminal } from '../terminal/paint.ts'

const OPTIONS = {
  ...TURN_OPTIONS,
  resume: { type: 'string', short: 'r', value: 'CONVERSATION', help: 'Continue a conversation' },
} as const

export const chat = command({
  name: 'chat',
  usage: ['chat', 'chat --resume CONVERSATION'],
  about:
    'Runs turns one after another in one conversation: a question a line. `/regenerate` asks the last one again, `/regenerate QUESTION` another one in its place. An empty line, `exit` or Ctrl-D ends it; a pipe feeds it line by line.',
  options: OPTIONS,
  async run({ values }, io) {
    return withAgent(values, io, (loaded) =>
      withStore(values, io, { create: true }, (store) => converse(loaded, values, io, store)),
    )
  },
})

async function converse(
  loaded: LoadedAgent,
  values: Values<typeof OPTIONS>,
  io: Io,
  store: Store,
): Promise<number> {
  const session = await openSession(loaded, values, io, store)
  const resumed = values.resume
  let conversation = resumed === undefined ? undefined : (await findConversation(store, resumed)).id
  if (conversation !== undefined && (await store.openGates(conversation)).length > 0) {
    await turn(session, values, io, { conversation })
  }
  if (isInteractive(io) && values.json !== true) {
    session.screen.line('Ask something; an empty line ends the conversation.')
  }
  let code: number = EXIT.ok
  while (!io.signal.aborted) {
    const question = await nextLine(io, session)
    if (question === undefined || question === '' || question === 'exit') break
    const [, again] = REGENERATE.exec(question) ?? []
    if (again !== undefined && conversation === undefined) {
      tell(session, values, io, 'There is nothing to ask again yet.')
      continue
    }
    const done = await turn(session, values, io, {
      message: again ?? question,
      isAgain: again !== undefined,
      ...(conversation !== undefined && { conversation }),
    })
    if (done === undefined) continue
    conversation = done.outcome.conversation
    // A failure stays the exit code; a waiting gate can be decided by a later turn.
    if (code !== EXIT.failed) code = exitCodeOf(done, io)
  }
  if (values.json !== true) tellEnd(session, io, conversation)
  return io.signal.aborted ? EXIT.interrupted : code
}

/** The text after it replaces the last question. */
const REGENERATE = /^\/regenerate(?:$|\s+)(.*)$/

function tellEnd({ screen, paint }: TurnSession, io: Io, conversation: string | undefined): void {
  const interrupted = io.signal.aborted ? 'Interrupted. ' : ''
  const next =
    conversation === undefined
      ? ''
      : `npx bobbin-adk chat --resume ${nameText(conversation)} continues.`
  const said = `${interrupted}${next}`.trim()
  if (said !== '') screen.line(paint.dim(said))
}

interface Question {
  readonly conversation?: string
  /** Empty: continue what waits, or ask the last question again. */
  readonly message?: string
  readonly isAgain?: boolean
}

function refusalText({ data }: BobbinError<'E_EFFECTS_WOULD_REPEAT'>): string {
  const tools = [...new Set(data.calls.map(({ tool }) => nameText(tool)))].join(', ')
  return `Not asked again: ${tools} may have changed something, and might run a second time. Ask another question.`
}

function tell(
  { screen, paint }: TurnSession,
  values: Values<typeof OPTIONS>,
  io: Io,
  text: string,
): void {
  if (values.json === true) io.stderr.write(`${text}\n`)
  else screen.line(paint.yellow(`! ${text}`))
}

async function turn(
  session: TurnSession,
  values: Values<typeof OPTIONS>,
  io: Io,
  { conversation, message = '', isAgain = false }: Question,
): Promise<DrivenTurn | undefined> {
  const { signal } = io
  const start = (runner: TurnRunner) => {
    if (conversation === undefined) return runner.run({ message, signal })
    if (isAgain) return runner.regenerate({ conversation, signal, ...(message && { message }) })
    if (message === '') return runner.resume({ conversation, decisions: [], signal })
    return runner.run({ conversation, message, signal })
  }
  let driven: DrivenTurn
  try {
    driven = await session.drive(start)
  } catch (error) {
    // Nothing was changed: the conversation continues with another question.
    if (!isAgain || !isBobbinError(error, 'E_EFFECTS_WOULD_REPEAT')) throw error
    tell(session, values, io, refusalText(error))
    return undefined
  }
  if (values.json === true) writeOutcome(io, driven)
  else {
    session.screen.endText()
    const reason = reasonText(driven)
    if (reason !== undefined) session.screen.line(session.paint.yellow(reason))
  }
  return driven
}

/** Lines that came early are kept: a pipe is faster than a turn. */
const readers = new WeakMap<object, AsyncIterator<string>>()

async function nextLine(io: Io, { paint }: TurnSession): Promise<string | undefined> {
  if (isInteractive(io)) return askLine(io, forTerminal(paint.bold('> ')))
  let reader = readers.get(io.stdin)
  if (reader === undefined) {
    reader = createInterface({ input: io.stdin })[Symbol.asyncIterator]()
    readers.set(io.stdin, reader)
  }
  const next = await reader.next()
  return next.done === true ? undefined : next.value.trim()
}

/** A prompt of its own each time, so that approvals can ask in between. */
function askLine(io: Io, prompt: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const ask = createInterface({
      input: io.stdin,
      output: io.stdout.stream as NodeJS.WritableStream,
    })
    const stop = () => ask.close()
    let line: string | undefined
    // Ctrl-C is a signal here like anywhere else.
    ask.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    io.signal.addEventListener('abort', stop)
    ask.on('close', () => {
      io.signal.removeEventListener('abort', stop)
      // Ctrl-C and Ctrl-D leave the cursor in the line.
      if (line === undefined) io.stdout.write('\n')
      resolve(line)
    })
    ask.question(prompt, (answer) => {
      line = answer.trim()
      ask.close()
    })
  })
}
