import { concatBytes } from '../../core/concat-bytes.ts'
import { cutText } from '../../core/error/cut-text.ts'
import { BobbinError } from '../../core/error/error.ts'
import { decodeUtf8 } from '../../spool/line-text.ts'
import type { Steps } from '../query/steps.ts'

/** A row that goes by; its cells are decoded only when they are asked for. */
export interface CsvRow {
  /** Counted from 0, the header included; blank lines do not count. */
  readonly index: number
  /** The byte after the row and its line end. */
  readonly end: number
  readonly byteLength: number
  /** A row of 1 MB can have a million cells, which take more than one step. */
  cells(): Steps<string[]>
}

/** What a scan does after a row: it continues, ends, or waits until it is resumed. */
type CsvWish = 'continue' | 'stop' | 'pause'

/** Where a scan begins: a byte that begins a row, and the rows before it. */
export interface CsvStart {
  readonly byte: number
  readonly index: number
}

const QUOTE = 0x22
const NEWLINE = 0x0a
const RETURN = 0x0d
/** A row beyond this is taken for a quote that was never closed. */
const MAX_ROW_BYTES = 1_000_000
/** A longer cell is cut, as a long line is. */
const MAX_CELL_CHARS = 65_536
const CELLS_PER_STEP = 1_000

/**
 * Splits delimited text into rows by RFC 4180: quoted cells may hold delimiters, line ends and doubled
 * quotes. A quote counts only where a cell begins, so that `5" pipe` is what it says.
 */
export class CsvScanner {
  readonly #delimiter: number
  readonly #visit: (row: CsvRow) => CsvWish
  /** Bytes of the row under way, how many of them were looked at, and the byte where it begins. */
  #rest = new Uint8Array()
  #seen = 0
  /** Where in the row the scan is: at the start of a cell, in quotes, or just after them. */
  #cellStart = true
  #quoted = false
  #closed = false
  #base: number
  #index: number

  stopped = false
  paused = false

  constructor(delimiter: number, start: CsvStart, visit: (row: CsvRow) => CsvWish) {
    this.#delimiter = delimiter
    this.#base = start.byte
    this.#index = start.index
    this.#visit = visit
  }

  /** Takes the next bytes; they are not held on to. */
  write(chunk: Uint8Array): void {
    this.#read(concatBytes([this.#rest, chunk]), this.#seen)
  }

  /** Continues after the row that asked for a pause. */
  resume(): void {
    this.paused = false
    this.#read(this.#rest, 0)
  }

  /** Ends the input: the last row needs no line end. */
  finish(): void {
    const { length } = this.#rest
    if (this.stopped || length === 0) return
    const last = this.#rest
    this.#rest = new Uint8Array()
    this.#give(last, 0, length, length)
  }

  #read(bytes: Uint8Array, from: number): void {
    const read = this.#rows(bytes, from)
    this.#rest = bytes.slice(read)
    this.#base += read
    this.#seen = this.paused ? 0 : this.#rest.length
    if (this.#seen > MAX_ROW_BYTES && !this.stopped) throw this.#endless()
  }

  /** Gives out whole rows, looking at bytes from `from` on, and returns where the unfinished one begins. */
  #rows(bytes: Uint8Array, from: number): number {
    const delimiter = this.#delimiter
    const length = bytes.length
    let rowStart = 0
    let cellStart = this.#cellStart
    let quoted = this.#quoted
    let closed = this.#closed
    for (let i = from; i < length; i++) {
      const byte = bytes[i] as number
      if (quoted) {
        quoted = byte !== QUOTE
        closed = !quoted
      } else if (byte === QUOTE && (cellStart || closed)) {
        // A doubled quote closes and opens again, which comes to the same.
        quoted = true
        cellStart = false
        closed = false
      } else {
        closed = false
        cellStart = byte === delimiter
        if (byte !== NEWLINE) continue
        this.#give(bytes, rowStart, i, i + 1)
        rowStart = i + 1
        cellStart = true
        if (this.stopped || this.paused) break
      }
    }
    this.#cellStart = cellStart
    this.#quoted = quoted
    this.#closed = closed
    return rowStart
  }

  #give(bytes: Uint8Array, from: number, to: number, behind: number): void {
    const stop = to > from && bytes[to - 1] === RETURN ? to - 1 : to
    if (stop === from) return
    const delimiter = String.fromCharCode(this.#delimiter)
    const wish = this.#visit({
      index: this.#index++,
      end: this.#base + behind,
      byteLength: stop - from,
      cells: () => cellsOf(bytes.subarray(from, stop), delimiter),
    })
    this.stopped = wish === 'stop'
    this.paused = wish === 'pause'
  }

  #endless(): BobbinError {
    const message = `The table is broken: the row that begins at byte ${this.#base} does not end within ${MAX_ROW_BYTES} bytes, perhaps for a quote that is never closed. Rows before it can be queried; artifact_grep and artifact_cat show the text as it is.`
    return new BobbinError('E_ARTIFACT_MALFORMED', message, { kind: 'table', position: this.#base })
  }
}

/** The cells of one row without its line end; decoded at once, which is far cheaper than cell by cell. */
function* cellsOf(row: Uint8Array, delimiter: string): Steps<string[]> {
  const text = decodeUtf8(row)
  // No cell of a short row is too long, and few rows are long.
  if (text.length <= MAX_CELL_CHARS && !text.includes('"')) return text.split(delimiter)
  const cells: string[] = []
  for (let start = 0; start <= text.length; ) {
    const close = text[start] === '"' ? closingQuote(text, start) : start
    const end = close === -1 ? -1 : text.indexOf(delimiter, close)
    const stop = end === -1 ? text.length : end
    cells.push(cellOf(text.slice(start, stop), close - start))
    start = stop + 1
    if (cells.length % CELLS_PER_STEP === 0) yield
  }
  return cells
}

/** Where the quote is that closes the one at `start`; -1 when none does. */
function closingQuote(text: string, start: number): number {
  let close = text.indexOf('"', start + 1)
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  return close
}

/** A cell as it is meant; `close` is where its closing quote is: before it nothing but quotes of text are doubled. */
function cellOf(text: string, close: number): string {
  if (!text.startsWith('"')) return cutText(text, MAX_CELL_CHARS)
  const inner = close > 0 ? text.slice(1, close) : text.slice(1)
  // Of what is cut off later, nothing is worth undoubling: half a megabyte of quotes takes long.
  const plain = inner.slice(0, 2 * MAX_CELL_CHARS).replaceAll('""', '"')
  // Text after the closing quote is not RFC 4180; it is kept.
  return cutText(close > 0 ? plain + text.slice(close + 1) : plain, MAX_CELL_CHARS)
}
