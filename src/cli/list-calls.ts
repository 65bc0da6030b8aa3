import { SETTLEMENTS } from '../records/tool-call.ts'
import type { Store } from '../store/store.ts'
import { showBytes, showDuration } from './amounts.ts'
import { briefArgs, oneLine, settlementSign, shortId } from './call-lines.ts'
import type { CallsValues } from './calls-options.ts'
import { eachCall, type FoundCall, findConversation } from './find-record.ts'
import type { Io } from './io.ts'
import { writeJson } from './json-view.ts'
import { type Paint, paintFor } from './paint.ts'
import { usageError } from './usage-error.ts'

/** A stored `ToolCall`, as far as the command line reads it. */
interface StoredCall {
  readonly id: string
  readonly tool: string
  readonly args: unknown
  readonly checksum: string
  readonly digest?: string
  readonly settlement: string
  readonly inline: boolean
  readonly results: unknown
  readonly createdAt: string
  readonly completedAt: string
}

export const storedCall = ({ entry }: FoundCall) => entry.data as unknown as StoredCall

/** The options as the store's filter. */
export async function callFilter(store: Store, values: CallsValues) {
  const { conversation, tool, settlement, checksum } = values
  if (settlement !== undefined && !SETTLEMENTS.some((each) => each === settlement)) {
    throw usageError(
      `\`--settlement ${settlement}\` is none: use ${SETTLEMENTS.join(', ')}.`,
      'calls',
    )
  }
  return {
    ...(conversation !== undefined && {
      conversation: (await findConversation(store, conversation)).id,
    }),
    ...(tool !== undefined && { tool }),
    ...(settlement !== undefined && { settlement }),
    ...(checksum !== undefined && { checksum }),
  }
}

/** One line for each settled call, oldest first. */
export async function listCalls(
  store: Store,
  values: CallsValues,
  _rest: readonly string[],
  io: Io,
): Promise<void> {
  const line = callLines(paintFor(io))
  let isEmpty = true
  for await (const found of eachCall(store, await callFilter(store, values))) {
    isEmpty = false
    if (values.json === true)
      writeJson(io, { conversation: found.conversation, ...found.entry.data })
    else io.stdout.write(`${line(found)}\n`)
  }
  if (isEmpty && values.json !== true) io.stderr.write('There are no such calls.\n')
}

/** Remembers what went by, so that a repeated call says how often it was made in its turn. */
export function callLines(paint: Paint): (found: FoundCall) => string {
  const seen = new Map<string, number>()
  const tools = new Map<string, string>()
  return (found) => {
    const { id, tool, args, checksum, settlement, createdAt, completedAt } = storedCall(found)
    const key = `${found.conversation} ${found.entry.turnId} ${checksum}`
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    tools.set(id, tool)
    const time = createdAt.replace('T', ' ').slice(0, 19)
    const took = Date.parse(completedAt) - Date.parse(createdAt)
    const shown = briefArgs(args, (callId) => tools.get(callId))
    return [
      settlementSign(settlement, paint),
      paint.dim(time),
      shortId(id).padEnd(13),
      paint.bold(oneLine(tool, 64)),
      shown,
      paint.dim(`${showDuration(took)} ${sizeOf(found)}`.trim()),
      ...(settlement === 'ok' ? [] : [paint.yellow(settlement)]),
      ...(count > 1 ? [paint.yellow(`×${count}`)] : []),
    ]
      .filter((part) => part !== '')
      .join('  ')
  }
}

/** How much a call gave, told from the references on its record. */
function sizeOf(found: FoundCall): string {
  const { results, inline } = storedCall(found)
  const bytes = (Array.isArray(results) ? results : [results]).reduce(
    (sum: number, part: unknown) => {
      const stored = part as { readonly $artifact?: { readonly byteLength: number } } | null
      return sum + (stored?.$artifact?.byteLength ?? 0)
    },
    0,
  )
  if (bytes === 0) return ''
  return inline ? showBytes(bytes) : `${showBytes(bytes)} kept out`
}

/** Everything there is to know of one call. */
export async function showCall(found: FoundCall, io: Io): Promise<void> {
  const paint = paintFor(io)
  const { conversation, entry } = found
  const { args, results, ...rest } = storedCall(found)
  const rows: (readonly [string, unknown])[] = [
    ['conversation', conversation],
    ['turn', entry.turnId],
    ...Object.entries(rest),
    ['entry digest', entry.digest],
    ['args', args],
    ['results', results],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, value] of rows) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    io.stdout.write(`${paint.bold(name.padEnd(width))}  ${oneLine(text ?? '', 2000)}\n`)
  }
}
