import type { FoundCall } from '../command/find-record.ts'
import { showDuration } from '../terminal/amounts.ts'
import {
  briefArgs,
  oneLine,
  settlementSign,
  settlementWord,
  shortId,
} from '../terminal/call-text.ts'
import { padTo } from '../terminal/columns.ts'
import { cutToWidth, joinToWidth } from '../terminal/cut-to-width.ts'
import type { Paint } from '../terminal/paint.ts'
import { sizeText, storedCall, timeText } from './stored-call.ts'

const ID = 13
const TOOK = 9
const RESULT = 16
/** A narrower table leaves out how long a call took and what it gave. */
const LEAST_WITH_RESULT = 70
/** From here on there is room for the date in every row. */
const LEAST_WITH_DATE = 110

interface Row {
  readonly sign: string
  readonly time: string
  readonly id: string
  readonly call: string
  readonly took: string
  readonly result: string
}

/**
 * Gives the lines of one call after another. On a terminal they are a table with a header; elsewhere each
 * is one line with everything in it. A repeated call says how often its turn made it.
 */
export function callLines(paint: Paint, columns: number): (found: FoundCall) => readonly string[] {
  const rowOf = callRows(paint)
  let day: string | undefined
  return (found) => {
    const row = rowOf(found)
    if (columns === Number.POSITIVE_INFINITY) return [plainLine(row)]
    const lines: string[] = []
    const date = row.time.slice(0, 10)
    const isShort = columns < LEAST_WITH_DATE
    const cells = (each: Row) =>
      tableLine({ ...each, time: isShort ? each.time.slice(11) : each.time }, columns)
    if (day === undefined) lines.push(paint.dim(cells(HEADER)))
    if (isShort && date !== day) lines.push(paint.dim(date))
    day = date
    return [...lines, cells(row)]
  }
}

/** The same for a tree: without time, in the width that its branches leave. */
export function treeLines(paint: Paint, columns: number): (found: FoundCall) => string {
  const rowOf = callRows(paint)
  return (found) => {
    const row = rowOf(found)
    if (columns === Number.POSITIVE_INFINITY) return plainLine(row)
    const { sign, id, call, took, result } = row
    return joinToWidth(`${sign} ${id}  ${call}`, `${paint.dim(took)} ${result}`.trimEnd(), columns)
  }
}

const HEADER: Row = {
  sign: ' ',
  time: 'DATE       TIME'.padEnd(20),
  id: 'ID',
  call: 'TOOL AND ARGUMENTS',
  took: 'TOOK',
  result: 'RESULT',
}

function callRows(paint: Paint): (found: FoundCall) => Row {
  const seen = new Map<string, number>()
  const tools = new Map<string, string>()
  return (found) => {
    const call = storedCall(found)
    const { id, tool, args, checksum, settlement, createdAt, completedAt } = call
    const key = `${found.conversation} ${found.entry.turnId} ${checksum}`
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    tools.set(id, tool)
    const shown = briefArgs(args, (callId) => tools.get(callId))
    const size = sizeText(call)
    const result = [
      ...(size === '' ? [] : [paint.dim(size)]),
      ...(settlement === 'ok' ? [] : [settlementWord(settlement, paint)]),
      ...(count > 1 ? [paint.yellow(`×${count}`)] : []),
    ]
    return {
      sign: settlementSign(settlement, paint),
      time: timeText(createdAt),
      id: shortId(id),
      call: `${paint.bold(oneLine(tool, 64))}  ${shown}`.trimEnd(),
      took: showDuration(Date.parse(completedAt) - Date.parse(createdAt)),
      result: result.join(' '),
    }
  }
}

const plainLine = ({ sign, time, id, call, took, result }: Row) =>
  [sign, time, id.padEnd(ID), call, took, result].filter((part) => part !== '').join('  ')

function tableLine({ sign, time, id, call, took, result }: Row, columns: number): string {
  const head = `${sign} ${time}  ${id.padEnd(ID)}  `
  const hasResult = columns >= LEAST_WITH_RESULT
  const used = time.length + ID + 6 + (hasResult ? TOOK + RESULT + 2 : 0)
  const room = Math.max(1, columns - used)
  const cell = padTo(cutToWidth(call, room), room)
  if (!hasResult) return cutToWidth(`${head}${cell}`.trimEnd(), columns)
  return cutToWidth(`${head}${cell} ${took.padStart(TOOK - 1)}  ${result}`.trimEnd(), columns)
}
