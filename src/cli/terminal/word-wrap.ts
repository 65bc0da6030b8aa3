import { widthOf } from './text-width.ts'

const PIECES = /\n|[^\S\n]+|\S+/g

/**
 * Breaks text between words as it comes in, so that a terminal does not break it inside one. The last
 * word is held back until it is known to be whole.
 */
export class WordWrap {
  readonly #columns: () => number
  #column = 0
  #gap = ''
  #word = ''

  constructor(columns: () => number) {
    this.#columns = columns
  }

  /** The part of the text so far that can be written. */
  push(text: string): string {
    let ready = ''
    const word = this.#word
    this.#word = ''
    for (const piece of (word + text).match(PIECES) ?? []) {
      ready += this.#settle()
      if (piece === '\n') {
        ready += piece
        this.#column = 0
        this.#gap = ''
      } else if (/^\s/.test(piece)) this.#gap += piece
      else this.#word = piece
    }
    // A word that is wider than the terminal cannot be kept whole, so there is nothing to wait for.
    return widthOf(this.#word) >= this.#columns() ? ready + this.#settle() : ready
  }

  /** The word that was held back; the next text begins a line. */
  flush(): string {
    const ready = this.#settle()
    this.#column = 0
    this.#gap = ''
    return ready
  }

  #settle(): string {
    const [gap, word, columns] = [this.#gap, this.#word, this.#columns()]
    if (word === '') return ''
    this.#gap = ''
    this.#word = ''
    const width = widthOf(word)
    const end = this.#column + widthOf(gap) + width
    if (this.#column > 0 && end > columns) {
      this.#column = width % columns
      return `\n${word}`
    }
    this.#column = end % columns || (end > 0 ? columns : 0)
    return gap + word
  }
}

/** A text of whole lines, broken between words; what follows a break is indented as its line is. */
export function wrapLines(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => {
      const [indent = ''] = /^ */.exec(line) ?? []
      const wrap = new WordWrap(() => columns - indent.length)
      const broken = wrap.push(line.slice(indent.length)) + wrap.flush()
      return indent + broken.replaceAll('\n', `\n${indent}`)
    })
    .join('\n')
}
