import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { Store } from '../../store/store.ts'
import { storedResults } from '../../store/stored-results.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { FoundCall } from '../command/find-record.ts'
import { showBytes, showCount, showDuration } from '../terminal/amounts.ts'
import { oneLine, shortId } from '../terminal/call-text.ts'
import { beside, columnsOf } from '../terminal/columns.ts'
import type { Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import {
  artifactOf,
  resultsOf,
  type StoredCall,
  storedCall,
  textOf,
  timeText,
} from './stored-call.ts'

const PREVIEW_LINES = 5
const LINE_CHARS = 200
const VALUE_CHARS = 2000

/** These follow from others, or are shown in other words. */
const HIDDEN = new Set(['completedAt', 'updatedAt', 'isComplete', 'isError', 'fromArtifactTool'])

/** Everything there is to know of one call, what matters most first, and what to ask next. */
export async function showCall(store: Store, found: FoundCall, io: Io): Promise<void> {
  const paint = paintFor(io)
  const columns = columnsOf(io)
  const { conversation, entry } = found
  const call = storedCall(found)
  const { tool, settlement, args, id, checksum, createdAt, completedAt, ...rest } = call
  const took = showDuration(Date.parse(completedAt) - Date.parse(createdAt))
  const { results: _results, digest, ...others } = rest
  const rows: (readonly [string, unknown])[] = [
    ['tool', tool],
    ['settlement', settlement],
    ['args', args],
    ['result', await preview(store, call)],
    ['asked', `${timeText(createdAt)}, took ${took}`],
    ['id', id],
    ['conversation', conversation],
    ['turn', entry.turnId],
    ...Object.entries(others).filter(([name]) => !HIDDEN.has(name)),
    ['checksum', checksum],
    ...(digest === undefined ? [] : [['digest', digest] as const]),
    ['entry digest', entry.digest],
  ]
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  for (const [name, value] of rows) {
    const lines = Array.isArray(value) ? (value as string[]) : [valueText(value)]
    io.stdout.write(`${beside(paint.bold(name), lines.join('\n'), width, columns)}\n`)
  }
  if (resultsOf(call).some((result) => artifactOf(result) !== undefined)) {
    const short = shortId(id).replace('…', '')
    io.stdout.write(`\nnpx bobbin-adk artifact head ${short} reads more of the result.\n`)
  }
}

const valueText = (value: unknown) =>
  oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), VALUE_CHARS)

/** How large the results are, and how they begin. */
async function preview(store: Store, call: StoredCall): Promise<readonly string[]> {
  const lines: string[] = []
  for (const result of resultsOf(call)) {
    const artifact = artifactOf(result)
    if (artifact === undefined) {
      const text = textOf(result)
      lines.push(...(text === undefined ? [valueText(result)] : begin(text.split('\n'))))
      continue
    }
    const { byteLength, lineCount, kind, sha256 } = artifact
    const count = lineCount === undefined ? '' : `, ${showCount(lineCount, 'line')}`
    lines.push(
      `${kind}, ${showBytes(byteLength)}${count}${call.inline ? '' : ', kept out of the prompt'}`,
    )
    lines.push(...(await beginOf(store, sha256)))
  }
  return lines
}

async function beginOf(store: Store, sha256: string): Promise<readonly string[]> {
  try {
    const reader = await storedResults(store).read(sha256)
    const head = await new SpooledArtifact(reader).head(PREVIEW_LINES + 1)
    return begin(head)
  } catch {
    return ['(its bytes cannot be read; `bobbin verify` says more)']
  }
}

function begin(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, PREVIEW_LINES).map((line) => cut(visibleText(line)))
  return lines.length > PREVIEW_LINES ? [...shown, '…'] : shown
}

const cut = (line: string) => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line)
