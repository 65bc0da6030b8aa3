import type { Store } from '../../store/store.ts'
import { eachConversation, type FoundCall, findConversation } from '../command/find-record.ts'
import { nameText, oneLine } from '../terminal/call-text.ts'
import { columnsOf } from '../terminal/columns.ts'
import { joinToWidth } from '../terminal/cut-to-width.ts'
import type { Io } from '../terminal/io.ts'
import { type Paint, paintFor } from '../terminal/paint.ts'
import { writeJson } from '../terminal/write-json.ts'
import { treeLines } from './call-lines.ts'
import type { CallsValues } from './calls-options.ts'

/** The columns that the branches of a call take. */
const BRANCHES = 7

interface TurnNode {
  readonly turnId: string
  question?: string
  status?: string
  readonly calls: string[]
}

/** Conversations, their turns, and the calls of each, drawn as a tree. */
export async function callTree(
  store: Store,
  values: CallsValues,
  _rest: readonly string[],
  io: Io,
): Promise<void> {
  const paint = paintFor(values.json === true ? { ...io, stdout: {} } : io)
  const wanted = values.conversation
  const ids =
    wanted === undefined ? await allIds(store) : [(await findConversation(store, wanted)).id]
  for (const id of ids) {
    const columns = values.json === true ? Number.POSITIVE_INFINITY : columnsOf(io)
    const turns = await turnsOf(store, id, treeLines(paint, columns - BRANCHES))
    if (values.json === true) {
      writeJson(io, { conversation: id, turns })
      continue
    }
    io.stdout.write(`${paint.bold(nameText(id))}\n`)
    for (const [index, turn] of turns.entries()) draw(turn, index === turns.length - 1, io, paint)
  }
}

async function allIds(store: Store): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of eachConversation(store)) ids.push(id)
  return ids
}

async function turnsOf(
  store: Store,
  conversation: string,
  line: (found: FoundCall) => string,
): Promise<TurnNode[]> {
  const turns = new Map<string, TurnNode>()
  for await (const entry of store.entries(conversation)) {
    const { turnId } = entry
    const turn = turns.get(turnId) ?? { turnId, calls: [] }
    turns.set(turnId, turn)
    if (entry.kind === 'settlement') turn.calls.push(line({ conversation, entry }))
    else if (entry.kind === 'turn-end') turn.status = entry.data.status
    else if (entry.kind === 'message' && entry.data['role'] === 'user') {
      turn.question ??= questionText(entry.data['content'])
    }
  }
  return [...turns.values()]
}

function questionText(content: unknown): string {
  const text = typeof content === 'string' ? content : (content as { text?: unknown } | null)?.text
  return typeof text === 'string' ? oneLine(text, 100) : ''
}

function draw(turn: TurnNode, isLast: boolean, io: Io, paint: Paint): void {
  const status = turn.status ?? 'unfinished'
  const title = turn.question ?? '(continued)'
  const shown = status === 'completed' ? paint.dim(status) : paint.yellow(status)
  const columns = columnsOf(io)
  io.stdout.write(`${joinToWidth(`${isLast ? '└─' : '├─'} ${title}`, shown, columns)}\n`)
  for (const [index, call] of turn.calls.entries()) {
    const branch = index === turn.calls.length - 1 ? '└─' : '├─'
    io.stdout.write(`${isLast ? '   ' : '│  '} ${branch} ${call}\n`)
  }
}
