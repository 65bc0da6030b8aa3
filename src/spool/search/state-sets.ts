import { EMPTY, OP, type Program } from './program.ts'

/** What the automaton may be doing at once, between two characters of a line. */
export interface StateSet {
  /** Instructions that wait for a character or for a position, sorted. */
  readonly waiting: readonly number[]
  readonly atStart: boolean
  readonly afterWord: boolean
}

/** Stands for the end of the line where a code point is expected. */
export const END_OF_LINE = -1

/** Computes, without caching, which states follow from which. */
export class StateSets {
  readonly #program: Program
  readonly #stack: number[] = []
  /** Instruction → the round in which it was last visited. */
  readonly #visited: Uint32Array
  #round = 0
  #found: number[] = []
  #matched = false

  constructor(program: Program) {
    this.#program = program
    this.#visited = new Uint32Array(program.instructions.length)
  }

  /** The states at the start of a line; `match` when any line matches. */
  first(): StateSet | 'match' {
    this.#begin()
    this.#follow(this.#program.start, 0)
    return this.#result({ atStart: true, afterWord: false })
  }

  /** The states after `rune`; `none` when nothing can match any more on this line. */
  next(set: StateSet, rune: number): StateSet | 'match' | 'none' {
    const isWord = isWordRune(rune)
    const here =
      (set.atStart ? EMPTY.begin : 0) |
      (rune === END_OF_LINE ? EMPTY.end : 0) |
      (isWord === set.afterWord ? EMPTY.noWordBoundary : EMPTY.wordBoundary)

    this.#begin()
    for (const pc of set.waiting) this.#follow(pc, here)
    if (this.#matched) return 'match'
    if (rune === END_OF_LINE) return 'none'

    const ready = this.#found
    this.#begin()
    for (const pc of ready) {
      const instruction = this.#program.instructions[pc]
      if (instruction === undefined || instruction.op < OP.rune) continue
      if (instruction.matchRune(rune)) this.#follow(instruction.out, 0)
    }
    // A match may begin anywhere on the line.
    this.#follow(this.#program.start, 0)
    const afterWord = this.#program.hasWordBoundary && isWord
    const next = this.#result({ atStart: false, afterWord })
    return next === 'match' || next.waiting.length > 0 ? next : 'none'
  }

  #begin(): void {
    this.#round++
    this.#found = []
    this.#matched = false
  }

  /** Collects what `pc` leads to without reading, given the positions that hold `here`. */
  #follow(from: number, here: number): void {
    const stack = this.#stack
    stack.push(from)
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      const instruction = this.#program.instructions[pc]
      if (instruction === undefined || this.#visited[pc] === this.#round) continue
      this.#visited[pc] = this.#round
      const { op, out, arg } = instruction
      if (op === OP.alt || op === OP.altMatch) stack.push(arg, out)
      else if (op === OP.capture || op === OP.nop) stack.push(out)
      else if (op === OP.match) this.#matched = true
      else if (op === OP.emptyWidth) {
        if ((arg & ~here) === 0) stack.push(out)
        else this.#found.push(pc)
      } else if (op >= OP.rune && op <= OP.runeAnyNotNewline) this.#found.push(pc)
    }
  }

  #result(at: { atStart: boolean; afterWord: boolean }): StateSet | 'match' {
    if (this.#matched) return 'match'
    const { instructions } = this.#program
    const possible = (pc: number) => {
      const instruction = instructions[pc]
      // Away from the start, what waits for the start waits for ever.
      return (
        at.atStart || instruction?.op !== OP.emptyWidth || (instruction.arg & EMPTY.begin) === 0
      )
    }
    const waiting = this.#found.filter(possible).sort((a, b) => a - b)
    return { waiting, ...at }
  }
}

function isWordRune(rune: number): boolean {
  return (
    (rune >= 97 && rune <= 122) ||
    (rune >= 65 && rune <= 90) ||
    (rune >= 48 && rune <= 57) ||
    rune === 95
  )
}
