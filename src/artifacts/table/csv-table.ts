import { byteSlices } from '../../spool/byte-slices.ts'
import { pacer } from '../../spool/event-loop.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { ItemPosition } from '../query/cursor.ts'
import { runAtOnce, runInTurns, type Steps } from '../query/steps.ts'
import { type CsvRow, CsvScanner } from './csv-scanner.ts'

/** How a table is written: what parts its cells, and where it begins. */
export interface CsvDialect {
  readonly delimiter: number
  readonly byte: number
}

/** How far a scan over rows goes, and where it begins. */
export interface RowScan {
  readonly signal?: AbortSignal
  readonly maxMs?: number
  /** Continue after this position. */
  readonly after?: ItemPosition
}

const CANDIDATES = [',', '\t', ';', '|'].map((char) => char.charCodeAt(0))
const SAMPLE_BYTES = 64 * 1024
const SAMPLE_ROWS = 20

const dialects = new WeakMap<SpoolReader, Promise<CsvDialect>>()

/** The dialect of a spool, detected once. */
export function dialectOf(reader: SpoolReader): Promise<CsvDialect> {
  let dialect = dialects.get(reader)
  if (dialect === undefined) {
    dialect = detectDialect(reader)
    dialects.set(reader, dialect)
    dialect.catch(() => dialects.delete(reader))
  }
  return dialect
}

/** Finds the delimiter that parts the first rows most evenly; a comma where none does. */
async function detectDialect(reader: SpoolReader): Promise<CsvDialect> {
  const sample = await reader.read(0, SAMPLE_BYTES)
  const hasMark = sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf
  const byte = hasMark ? 3 : 0
  const isWhole = sample.length === reader.byteLength
  let best = { delimiter: CANDIDATES[0] ?? 0, score: 0 }
  for (const delimiter of CANDIDATES) {
    const score = evenness(widths(sample.subarray(byte), delimiter, isWhole))
    if (score > best.score) best = { delimiter, score }
  }
  return { delimiter: best.delimiter, byte }
}

function widths(sample: Uint8Array, delimiter: number, isWhole: boolean): number[] {
  const found: number[] = []
  const scanner = new CsvScanner(delimiter, { byte: 0, index: 0 }, (row) => {
    found.push(runAtOnce(row.cells()).length)
    return found.length < SAMPLE_ROWS ? 'continue' : 'stop'
  })
  scanner.write(sample)
  if (isWhole || found.length === 0) scanner.finish()
  return found
}

/** Cells per row, counted only for rows that are as wide as the first. */
function evenness([first = 0, ...rest]: readonly number[]): number {
  if (first < 2) return 0
  const even = rest.filter((width) => width === first).length
  return ((even + 1) / (rest.length + 1)) * 1_000 + first
}

/** Whether to continue after a row: decided at once, or after some steps. */
type RowVisit = 'continue' | 'stop' | Steps<'continue' | 'stop'>

/** Larger rows are looked at in turns with other work. */
const LARGE_BYTES = 32 * 1024

/** Goes over the rows in slices that do not block; tells whether time was up before the end. */
export async function scanRows(
  reader: SpoolReader,
  { signal, maxMs = Number.POSITIVE_INFINITY, after }: RowScan,
  visit: (row: CsvRow) => RowVisit,
): Promise<'end' | 'stopped' | 'time'> {
  const { delimiter, byte } = await dialectOf(reader)
  const start = after === undefined || after.index === 0 ? { byte, index: 0 } : after
  let large: Steps<'continue' | 'stop'> | undefined
  const scanner = new CsvScanner(delimiter, start, (row) => {
    const visiting = visit(row)
    if (typeof visiting === 'string') return visiting
    if (row.byteLength <= LARGE_BYTES) return runAtOnce(visiting)
    large = visiting
    return 'pause'
  })
  const deadline = performance.now() + maxMs
  const pace = pacer()
  /** True when the visitor has seen enough. */
  const settle = async (): Promise<boolean> => {
    for (let row = large; scanner.paused && row !== undefined; row = large) {
      if ((await runInTurns(row, pace)) === 'stop') return true
      scanner.resume()
    }
    return scanner.stopped
  }
  const range = { start: start.byte, borrow: true, ...(signal && { signal }) }
  for await (const chunk of reader.stream(range)) {
    for (const slice of byteSlices(chunk)) {
      scanner.write(slice)
      if (await settle()) return 'stopped'
      await pace()
      signal?.throwIfAborted()
      if (performance.now() > deadline) return 'time'
    }
  }
  scanner.finish()
  return (await settle()) ? 'stopped' : 'end'
}
