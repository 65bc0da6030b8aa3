import type { Program } from './program.ts'
import { END_OF_LINE, type StateSet, StateSets } from './state-sets.ts'
import { Utf8Decoder } from './utf8-decoder.ts'

/** Why `run` stopped. `pause`: much work was done, and other work should have its turn. */
export type RunEnd = 'more' | 'match' | 'line' | 'pause'

const UNKNOWN = 0
const MATCH = -1
const NO_MATCH = -2
const NEWLINE = 10
const RETURN = 13

/** Table cells and waiting instructions that are kept before the cache starts afresh: about 8 MB. */
const MAX_CELLS = 1_000_000
const MAX_WAITING = 500_000
/** States that one `run` may build; each costs up to a fraction of a millisecond. */
const MAX_BUILDS = 16

/**
 * Tells which lines of a byte stream match, in time linear in the bytes and in bounded memory. It is a
 * deterministic automaton whose states are built when they are first needed; it can stop after any byte, so
 * that one line of 50 MB is searched in slices too.
 */
export class LineAutomaton {
  readonly #sets: StateSets
  readonly #columns: number
  readonly #endColumn: number
  readonly #asciiColumn = new Uint16Array(128)
  readonly #bounds: Int32Array
  readonly #decoder = new Utf8Decoder()
  readonly #first: StateSet | 'match'

  #table = new Int32Array(0)
  #rows: StateSet[] = []
  #rowOf = new Map<string, number>()
  #waiting = 0
  #builds = 0
  #firstRow = UNKNOWN

  #state = 0
  #skipping = false
  #afterReturn = false
  #midLine = false

  constructor(program: Program) {
    this.#sets = new StateSets(program)
    this.#bounds = program.classBounds
    this.#endColumn = this.#bounds.length + 1
    this.#columns = this.#endColumn + 2
    for (let byte = 0; byte < 128; byte++) this.#asciiColumn[byte] = this.#columnOf(byte)
    // Line ends leave the fast path: one has a column of its own, the other never has an entry.
    this.#asciiColumn[NEWLINE] = this.#endColumn
    this.#asciiColumn[RETURN] = this.#endColumn + 1
    this.#first = this.#sets.first()
    this.#flush()
    this.beginLine()
  }

  /** True between the first byte of a line and its end. */
  get midLine(): boolean {
    return this.#midLine
  }

  /** Forgets the line under way. */
  beginLine(): void {
    if (this.#firstRow === UNKNOWN) {
      this.#firstRow = this.#first === 'match' ? MATCH : this.#rowFor(this.#first)
    }
    this.#state = this.#firstRow
    this.#skipping = false
    this.#afterReturn = false
    this.#midLine = false
    this.#decoder.reset()
  }

  /** Leaves out the rest of the line under way. */
  skipLine(): void {
    this.#skipping = true
  }

  /** Where the last `run` stopped. */
  position = 0

  /** Reads `bytes` from `at` up to a match, the end of the line, or the end of the bytes. */
  run(bytes: Uint8Array, at: number): RunEnd {
    this.#builds = 0
    const end = bytes.length
    let i = at
    if (i < end) this.#midLine = true
    while (i < end) {
      if (this.#skipping) {
        const newline = bytes.indexOf(NEWLINE, i)
        if (newline < 0) return this.#stop(end, 'more')
        this.beginLine()
        return this.#stop(newline + 1, 'line')
      }
      if (this.#state === MATCH) return this.#stop(i, 'match')
      if (this.#builds > MAX_BUILDS) return this.#stop(i, 'pause')

      if (this.#afterReturn) {
        this.#afterReturn = false
        if (bytes[i] !== NEWLINE) this.#step(RETURN, this.#columnOf(RETURN))
        if (this.#state < 0) continue
      }
      if (!this.#decoder.pending) {
        i = this.#runAscii(bytes, i)
        if (i >= end) break
      }

      const byte = bytes[i] ?? 0
      if (byte >= 128 || this.#decoder.pending) {
        const rune = this.#decoder.take(byte)
        if (this.#decoder.consumed) i++
        if (rune >= 0) this.#step(rune, this.#columnOf(rune))
      } else if (byte === NEWLINE) {
        this.#step(END_OF_LINE, this.#endColumn)
        if (this.#state === MATCH) return this.#stop(i, 'match')
        this.beginLine()
        return this.#stop(i + 1, 'line')
      } else if (byte === RETURN) {
        this.#afterReturn = true
        i++
      } else {
        this.#step(byte, this.#asciiColumn[byte] ?? 0)
        i++
      }
    }
    return this.#stop(end, this.#state === MATCH && !this.#skipping ? 'match' : 'more')
  }

  /** Ends the input: whether the last line, which has no newline, matches. */
  finish(): boolean {
    if (!this.#midLine || this.#skipping) return false
    if (this.#afterReturn && this.#state > 0) this.#step(RETURN, this.#columnOf(RETURN))
    if (this.#decoder.pending && this.#state > 0) this.#step(0xfffd, this.#columnOf(0xfffd))
    if (this.#state > 0) this.#step(END_OF_LINE, this.#endColumn)
    return this.#state === MATCH
  }

  /** The hot loop: known transitions on ASCII bytes. Stops at whatever else. */
  #runAscii(bytes: Uint8Array, at: number): number {
    const table = this.#table
    const column = this.#asciiColumn
    const end = bytes.length
    let state = this.#state
    let i = at
    while (i < end) {
      const byte = bytes[i] as number
      if (byte >= 128) break
      const next = table[state + (column[byte] as number)] as number
      if (next <= UNKNOWN) break
      state = next
      i++
    }
    this.#state = state
    return i
  }

  #stop(position: number, end: RunEnd): RunEnd {
    this.position = position
    return end
  }

  #step(rune: number, column: number): void {
    const known = this.#table[this.#state + column] ?? UNKNOWN
    this.#state = known === UNKNOWN ? this.#build(this.#state, rune, column) : known
    if (this.#state === NO_MATCH) this.#skipping = true
  }

  #build(state: number, rune: number, column: number): number {
    this.#builds++
    const from = this.#rows[state / this.#columns] as StateSet
    const result = this.#sets.next(from, rune)
    const next = result === 'match' ? MATCH : result === 'none' ? NO_MATCH : this.#rowFor(result)
    // Making room may have dropped the row that the answer belongs to.
    if (this.#rows[state / this.#columns] === from) this.#table[state + column] = next
    return next
  }

  #rowFor(set: StateSet): number {
    const key = `${set.atStart ? '^' : ''}${set.afterWord ? 'w' : ''}${set.waiting.join()}`
    const known = this.#rowOf.get(key)
    if (known !== undefined) return known
    const full = (this.#rows.length + 1) * this.#columns > MAX_CELLS || this.#waiting > MAX_WAITING
    if (full) this.#flush()
    const row = this.#rows.length * this.#columns
    this.#rows.push(set)
    this.#rowOf.set(key, row)
    this.#waiting += set.waiting.length
    if (row + this.#columns > this.#table.length) {
      const larger = new Int32Array(Math.max(64 * this.#columns, this.#table.length * 2))
      larger.set(this.#table)
      this.#table = larger
    }
    return row
  }

  /** Row 0 is never used, so that no transition is 0 but an unknown one. */
  #flush(): void {
    this.#rows = [{ waiting: [], atStart: false, afterWord: false }]
    this.#rowOf = new Map()
    this.#waiting = 0
    this.#table = new Int32Array(64 * this.#columns)
    this.#firstRow = UNKNOWN
  }

  #columnOf(rune: number): number {
    let low = 0
    let high = this.#bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#bounds[middle] ?? 0) <= rune) low = middle + 1
      else high = middle
    }
    return low
  }
}
