import { showBytes, showCount, showDuration, showRounded } from '../terminal/amounts.ts'
import { bytesKeptOut, nameText, oneLine, shortId } from '../terminal/call-text.ts'
import type { Paint } from '../terminal/paint.ts'
import type { DrivenTurn } from './drive-turn.ts'

const BYTES_PER_TOKEN = 4

/** What a turn came to, in a few lines. */
export function summaryLines(
  turn: DrivenTurn,
  facts: {
    readonly durationMs: number
    readonly promptBytes: number
    readonly store: string
    readonly columns: number
  },
  paint: Paint,
): string[] {
  const { calls } = turn
  const keptOut = calls.reduce((sum, call) => sum + bytesKeptOut(call), 0)
  const { status, conversation } = turn.outcome
  const reason = reasonText(turn)
  const how = status === 'completed' ? paint.green(status) : paint.yellow(status)
  return [
    paint.dim('─'.repeat(Math.min(60, facts.columns))),
    `${how} in ${showDuration(facts.durationMs)}: ${showCount(calls.length, 'call')} (${tallied(calls)})`,
    ...(reason === undefined ? [] : [reason]),
    ...(keptOut === 0
      ? []
      : [
          `${showBytes(keptOut)} of output kept out of the prompt, about ${showRounded(keptOut / BYTES_PER_TOKEN)} tokens; the prompt holds ${showBytes(facts.promptBytes)}`,
        ]),
    `Recorded in ${facts.store}, conversation ${nameText(conversation)}`,
  ]
}

/** Why a turn did not complete, or not whole, and the way out. */
export function reasonText({ outcome, wayOut = '', loss }: DrivenTurn): string | undefined {
  const { reason, status, conversation } = outcome
  if (reason === undefined) return loss
  if (status !== 'suspended') {
    const said = oneLine(reason.message, 400).replace(/([^.!?…])$/, '$1.')
    return `${reason.code}: ${said} ${wayOut}`.trimEnd()
  }
  return `It waits for a decision: \`npx bobbin-adk run --resume ${start(conversation)}\` asks for it.`
}

/** Enough of an id to find it again. */
const start = (id: string) => shortId(id).replace('…', '')

function tallied(calls: DrivenTurn['calls']): string {
  const counts = new Map<string, number>()
  for (const { settlement } of calls) counts.set(settlement, (counts.get(settlement) ?? 0) + 1)
  return [...counts].map(([settlement, count]) => `${count} ${settlement}`).join(', ') || 'none'
}

interface NextStepsOptions {
  readonly isOffline: boolean
  readonly columns: number
  /** The agent file and the store that were named on the command line. */
  readonly agent: string | undefined
  readonly store: string | undefined
  readonly isNpmStart: boolean
  /** The agent's own questions; the second is one more to try. */
  readonly questions: readonly string[]
}

/** What to type next, made from what just happened. */
export function nextSteps(
  { outcome, calls }: DrivenTurn,
  options: NextStepsOptions,
  paint: Paint,
): string[] {
  const { isOffline, columns, questions } = options
  const [first, other] = questions
  const big = calls.toSorted((a, b) => bytesKeptOut(b) - bytesKeptOut(a))[0]
  const store = flag('store', options.store)
  const agent = flag('agent', options.agent)
  const rows: (readonly [string, string])[] = [
    [`npx bobbin-adk calls${store}`, 'every call is a record'],
  ]
  if (big !== undefined) {
    const id = start(big.id)
    rows.push([`npx bobbin-adk calls show ${id}${store}`, 'one of them, whole'])
    if (bytesKeptOut(big) > 0) {
      rows.push([`npx bobbin-adk artifact tail ${id} -n 5${store}`, 'query its output'])
    }
  }
  rows.push(
    [`npx bobbin-adk verify${store}`, 'no record was altered'],
    [
      `npx bobbin-adk chat --resume ${start(outcome.conversation)}${agent}${store}`,
      'continue from here',
    ],
  )
  if (other !== undefined) {
    const run = options.isNpmStart ? 'npm start --' : `npx bobbin-adk run${agent}${store}`
    rows.push([`${run} "${other}"`, 'ask something else'])
  }
  const width = Math.max(...rows.map(([command]) => command.length))
  const isWide = Math.max(...rows.map(([, what]) => width + what.length + 4)) <= columns
  return [
    ...(calls.length > 0 ? [RECORDS, ''] : []),
    'What to try next:',
    ...rows.flatMap(([command, what]) =>
      isWide
        ? [`  ${paint.bold(command.padEnd(width))}  ${what}`]
        : [`  ${paint.bold(command)}`, `    ${what}`],
    ),
    ...(isOffline ? ['', first === undefined ? `${KEYS}.` : `${KEYS} “${first}”`] : []),
  ]
}

const flag = (name: string, value: string | undefined) =>
  value === undefined ? '' : ` --${name} ${value}`

const RECORDS =
  'Each call above is one record: stored before the next step, never changed, named by what was asked. The guard counts them, an approval is bound to one, and a crash loses none.'
const KEYS = 'With OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY set, a model answers'
