import type { Store } from '../../store/store.ts'
import { NOTHING_SPENT, plus, type Spending, spendingOf, turnsOf } from '../calls/spending.ts'
import { command } from '../command/command.ts'
import { eachConversation, findConversation } from '../command/find-record.ts'
import { STORE_OPTIONS, withStore } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { nameText } from '../terminal/call-text.ts'
import { padTo } from '../terminal/columns.ts'
import { EXIT, type Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { Screen } from '../terminal/screen.ts'
import { writeJson } from '../terminal/write-json.ts'

export const usage = command({
  name: 'usage',
  usage: ['usage', 'usage CONVERSATION'],
  about:
    'Shows the usage of model calls: tokens, how many were read from and written to caches, and the cost if the runner had `prices`. For all conversations, or for the turns of one.',
  options: STORE_OPTIONS,
  run: ({ values, positionals: [wanted, extra] }, io) => {
    if (extra !== undefined) throw usageError('`bobbin usage` takes one conversation.', 'usage')
    return withStore(values, io, { create: false }, async (store) => {
      const rows = wanted === undefined ? ofStore(store) : ofConversation(store, wanted)
      const found: Row[] = []
      for await (const row of rows) {
        if (values.json === true) writeJson(io, row)
        else found.push(row)
      }
      if (values.json !== true) show(io, wanted === undefined ? 'conversation' : 'turn', found)
      return EXIT.ok
    })
  },
})

/** What a conversation or a turn took. */
interface Row extends Spending {
  readonly conversation: string
  readonly turnId?: string
}

async function* ofStore(store: Store): AsyncGenerator<Row> {
  const order = { orderBy: 'updatedAt', descending: true } as const
  for await (const info of eachConversation(store, order)) {
    const spending = await spendingOf(store, info)
    if (spending.modelCalls > 0) yield { conversation: info.id, ...spending }
  }
}

async function* ofConversation(store: Store, wanted: string): AsyncGenerator<Row> {
  const { id: conversation } = await findConversation(store, wanted)
  for (const [turnId, spending] of await turnsOf(store, conversation)) {
    yield { conversation, turnId, ...spending }
  }
}

const HEADER = ['calls', 'input', 'cached', 'written', 'output', 'reasoning', 'cost']

function show(io: Io, subject: 'conversation' | 'turn', rows: readonly Row[]): void {
  if (rows.length === 0) {
    io.stderr.write('No model calls found.\n')
    return
  }
  const paint = paintFor(io)
  const screen = new Screen(io)
  const nested = rows.reduce((sum, row) => plus(sum, row.nested ?? NOTHING_SPENT), NOTHING_SPENT)
  const total = rows.reduce<Spending>((sum, row) => plus(sum, row), NOTHING_SPENT)
  const lines = [
    [subject, ...HEADER],
    ...rows.map((row) => [nameText(row.turnId ?? row.conversation), ...cells(row)]),
    ...(rows.length > 1 ? [['total', ...cells(total)]] : []),
    ...(nested.inputTokens > 0 ? [['in sub-agents', ...cells(nested)]] : []),
  ]
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  for (const [at, [name = '', ...amounts]] of lines.entries()) {
    const [first = 0, ...others] = widths ?? []
    const right = amounts.map((amount, column) => amount.padStart(others[column] ?? 0))
    const line = [padTo(name, first), ...right].join('  ')
    screen.line(at === 0 ? paint.dim(line) : line)
  }
}

function cells(row: Spending): string[] {
  const { modelCalls, failed, cost } = row
  const calls = failed > 0 ? `${count(modelCalls)} (${count(failed)} failed)` : count(modelCalls)
  return [
    modelCalls === 0 ? '' : calls,
    count(row.inputTokens),
    count(row.cachedInputTokens),
    count(row.cacheWriteTokens),
    count(row.outputTokens),
    count(row.reasoningTokens),
    cost === undefined ? '-' : cost.toFixed(4),
  ]
}

const count = (value: number) => value.toLocaleString('en-US')
