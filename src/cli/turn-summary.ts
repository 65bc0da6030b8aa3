import { BUILT_IN_QUESTION } from './agent.ts'
import { showBytes, showCount, showDuration, showRounded } from './amounts.ts'
import { bytesKeptOut, oneLine, shortId } from './call-lines.ts'
import type { DrivenTurn } from './drive-turn.ts'
import type { Paint } from './paint.ts'

const BYTES_PER_TOKEN = 4

/** What a turn came to, in a few lines. */
export function summaryLines(
  { outcome, calls }: DrivenTurn,
  facts: { readonly durationMs: number; readonly promptBytes: number; readonly store: string },
  paint: Paint,
): string[] {
  const keptOut = calls.reduce((sum, call) => sum + bytesKeptOut(call), 0)
  const { status, reason, conversation } = outcome
  const how = status === 'completed' ? paint.green(status) : paint.yellow(status)
  return [
    paint.dim('─'.repeat(60)),
    `${how} in ${showDuration(facts.durationMs)}: ${showCount(calls.length, 'call')} (${tallied(calls)})`,
    ...(reason === undefined ? [] : [`${reason.code}: ${oneLine(reason.message, 400)}`]),
    ...(keptOut === 0
      ? []
      : [
          `${showBytes(keptOut)} of output kept out of the prompt, about ${showRounded(keptOut / BYTES_PER_TOKEN)} tokens; the prompt holds ${showBytes(facts.promptBytes)}`,
        ]),
    `Recorded in ${facts.store}, conversation ${conversation}`,
  ]
}

function tallied(calls: DrivenTurn['calls']): string {
  const counts = new Map<string, number>()
  for (const { settlement } of calls) counts.set(settlement, (counts.get(settlement) ?? 0) + 1)
  return [...counts].map(([settlement, count]) => `${count} ${settlement}`).join(', ') || 'none'
}

/** What to type next, made from what just happened. */
export function nextSteps(
  { outcome, calls }: DrivenTurn,
  { isOffline }: { readonly isOffline: boolean },
  paint: Paint,
): string[] {
  const big = calls.toSorted((a, b) => bytesKeptOut(b) - bytesKeptOut(a))[0]
  const start = (id: string) => shortId(id).replace('…', '')
  const rows: (readonly [string, string])[] = [
    ['npx bobbin calls', 'every call as a record; refused and repeated ones stand out'],
  ]
  if (big !== undefined) {
    const id = start(big.id)
    rows.push([`npx bobbin calls show ${id}`, 'one record with its checksum and digest'])
    if (bytesKeptOut(big) > 0) {
      rows.push([
        `npx bobbin artifact grep ${id} 'T12:00.* ERROR'`,
        'query an output as a model does',
      ])
    }
  }
  rows.push(
    ['npx bobbin verify', 'prove that no record was altered'],
    [`npx bobbin chat --resume ${start(outcome.conversation)}`, 'go on with this conversation'],
    ['npm start -- "Which hosts run 5.12.0?"', 'ask something else'],
  )
  const width = Math.max(...rows.map(([command]) => command.length))
  return [
    'What to try next:',
    ...rows.map(([command, what]) => `  ${paint.bold(command.padEnd(width))}  ${what}`),
    ...(isOffline ? ['', KEYS] : []),
  ]
}

const KEYS = `With OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY set, a model answers “${BUILT_IN_QUESTION}”`
