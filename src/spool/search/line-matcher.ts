import { scanner } from '../scan/scanner.ts'
import type { Finder } from '../scan/scanner-contract.ts'
import { LineAutomaton } from './line-automaton.ts'
import type { Pattern } from './pattern.ts'

const NEWLINE = 10
const RETURN = 13

/** A line that matches: where it begins, and a byte at or near the match, counted in the whole stream. */
export interface LineMatch {
  readonly lineStart: number
  readonly offset: number
}

/**
 * Finds matching lines in bytes that arrive in chunks. Where every match must contain certain bytes, it looks
 * for those first, and runs the automaton on the lines that have them only.
 */
export class LineMatcher {
  readonly #automaton: LineAutomaton
  readonly #finder: Finder | undefined
  readonly #needleLength: number
  readonly #needleIsAll: boolean

  #bytes: Uint8Array = new Uint8Array()
  #base: number
  #at = 0
  #lastNewline = -1
  #find: (from: number) => number = () => -1

  /** Where the line under way begins: everything before it has been answered for. */
  lineStart: number

  constructor(pattern: Pattern, start: number) {
    this.#automaton = new LineAutomaton(pattern.program)
    this.#finder = pattern.needle && scanner().finder(pattern.needle, pattern.foldNeedle)
    this.#needleLength = pattern.needle?.length ?? 0
    this.#needleIsAll = pattern.needleIsAll
    this.#base = start
    this.lineStart = start
  }

  /** Takes the next chunk; the one before must be used up. */
  load(bytes: Uint8Array): void {
    this.#base += this.#bytes.length
    this.#bytes = bytes
    this.#at = 0
    if (this.#finder === undefined) return
    this.#find = this.#finder.within(bytes)
    this.#lastNewline = bytes.lastIndexOf(NEWLINE)
  }

  /** The next match, `more` when the chunk is used up, `pause` when other work should have its turn. */
  next(): LineMatch | 'more' | 'pause' {
    while (this.#at < this.#bytes.length) {
      if (this.#finder !== undefined && !this.#automaton.midLine) {
        const match = this.#nextCandidate()
        if (match !== undefined) return match
      }
      if (this.#at >= this.#bytes.length) break
      const end = this.#automaton.run(this.#bytes, this.#at)
      this.#at = this.#automaton.position
      if (end === 'line') this.lineStart = this.#base + this.#at
      else if (end === 'match') {
        this.#automaton.skipLine()
        return { lineStart: this.lineStart, offset: this.#base + this.#at }
      } else return end
    }
    return 'more'
  }

  /** Ends the input: the last line may match without a newline. */
  finish(): LineMatch | undefined {
    const end = this.#base + this.#bytes.length
    return this.#automaton.finish() ? { lineStart: this.lineStart, offset: end } : undefined
  }

  /** Moves to the next line that may match; gives the match when that is certain. */
  #nextCandidate(): LineMatch | undefined {
    for (;;) {
      const candidate = this.#find(this.#at)
      if (candidate < 0 || candidate > this.#lastNewline) {
        // The line that the next chunk continues: the needle may lie across the border.
        this.#moveTo(Math.max(this.#at, this.#lastNewline + 1))
        return undefined
      }
      if (candidate > this.#at) {
        this.#moveTo(Math.max(this.#at, this.#bytes.lastIndexOf(NEWLINE, candidate - 1) + 1))
      }
      if (!this.#needleIsAll) return undefined
      const lineStart = this.lineStart
      const newline = this.#bytes.indexOf(NEWLINE, candidate)
      const end = this.#bytes[newline - 1] === RETURN ? newline - 1 : newline
      this.#moveTo(newline + 1)
      // What ends in the `\r` of the line end is not in the line.
      if (candidate + this.#needleLength <= end) {
        return { lineStart, offset: this.#base + candidate }
      }
    }
  }

  #moveTo(at: number): void {
    this.#at = at
    this.lineStart = this.#base + at
  }
}
