import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { asObject, asText, jsonText } from '../../../model/wire/wire-value.ts'

type Path = readonly (string | number)[]

const SEGMENT = /\.([^.[\]'"]+)|\[(\d{1,15})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

/**
 * Arguments that arrive leaf by leaf, written as the JSON text that the model is writing: leaves come in
 * its order, so each piece is appended once. A leaf that does not fit is written as invalid JSON, so
 * that the strict parser refuses the call; nothing is guessed.
 */
export class PartialArgs {
  readonly #pieces: string[] = []
  /** Where the last leaf stands; each of its segments stands for one open container. */
  #path: Path = []
  /** The path of a string of which more is to come. */
  #openString: string | undefined
  #isRefused = false

  get text(): string {
    return this.#pieces.join('')
  }

  /** True while a string waits for more: such arguments are cut. */
  get isOpen(): boolean {
    return this.#openString !== undefined
  }

  /** Takes one piece and gives the text that it adds. */
  push(value: JsonValue): string {
    return this.#write(this.#textOf(value))
  }

  /** No more pieces: closes what is open, except a string that was promised more. */
  close(): string {
    if (this.#isRefused || this.isOpen) return ''
    const text = this.#closers(0)
    this.#path = []
    return this.#write(text)
  }

  #write(text: string): string {
    if (text !== '') this.#pieces.push(text)
    return text
  }

  #textOf(value: JsonValue): string {
    const piece = asObject(value)
    const jsonPath = asText(piece?.['jsonPath'])
    if (piece === undefined || jsonPath === undefined || this.#isRefused) return this.#refuse(value)
    if (this.#openString !== undefined) {
      const more = piece['stringValue'] ?? ''
      if (jsonPath !== this.#openString || typeof more !== 'string') return this.#refuse(value)
      return this.#string(piece, more)
    }
    const path = parsePath(jsonPath)
    const way = path === undefined ? undefined : this.#wayTo(path)
    const leaf = way === undefined ? undefined : this.#leaf(piece)
    if (path === undefined || way === undefined || leaf === undefined) return this.#refuse(value)
    this.#path = path
    return way + leaf
  }

  /** The text between the last leaf and the one at `path`; undefined when no JSON text has it. */
  #wayTo(path: Path): string | undefined {
    const last = this.#path
    let at = 0
    while (at < path.length && at < last.length && path[at] === last[at]) at++
    // The same leaf again is a duplicate key, which the parser is to find.
    if (at === path.length && at === last.length && at > 0) at--
    const segment = path[at]
    if (segment === undefined || (last.length > 0 && at >= last.length)) return undefined
    let text = ''
    if (last.length > 0) {
      const before = last[at]
      if (typeof before !== typeof segment) return undefined
      if (typeof before === 'number' && segment !== before + 1) return undefined
      text = `${this.#closers(at + 1)},`
    }
    for (let index = at; index < path.length; index++) {
      const step = path[index] as string | number
      const isNew = last.length === 0 || index > at
      if (isNew && typeof step === 'number' && (step !== 0 || index === 0)) return undefined
      if (isNew) text += typeof step === 'number' ? '[' : '{'
      if (typeof step === 'string') text += `${JSON.stringify(step)}:`
    }
    return text
  }

  #closers(depth: number): string {
    const open = this.#path.slice(depth).reverse()
    return open.map((segment) => (typeof segment === 'number' ? ']' : '}')).join('')
  }

  #leaf(piece: JsonObject): string | undefined {
    const { stringValue, numberValue, boolValue, nullValue } = piece
    if (typeof stringValue === 'string') {
      this.#openString = asText(piece['jsonPath'])
      return `"${this.#string(piece, stringValue)}`
    }
    if (typeof numberValue === 'number') {
      return Number.isFinite(numberValue) ? String(numberValue) : undefined
    }
    if (typeof boolValue === 'boolean') return String(boolValue)
    return nullValue === undefined ? undefined : 'null'
  }

  #string(piece: JsonObject, text: string): string {
    // Half a surrogate pair is written as an escape, which the other half completes.
    const escaped = JSON.stringify(text).slice(1, -1)
    if (piece['willContinue'] === true) return escaped
    this.#openString = undefined
    return `${escaped}"`
  }

  #refuse(value: JsonValue): string {
    this.#isRefused = true
    this.#openString = undefined
    return `\n! ${jsonText(value)}`
  }
}

/** The segments of a path like `$.items[0]['a b']`; undefined for what names no single leaf. */
function parsePath(text: string): Path | undefined {
  if (!text.startsWith('$') || text.length === 1) return undefined
  const path: (string | number)[] = []
  SEGMENT.lastIndex = 1
  while (SEGMENT.lastIndex < text.length) {
    const found = SEGMENT.exec(text)
    if (found === null) return undefined
    const [, name, index, single, double] = found
    const quoted =
      single === undefined ? double : single.replaceAll("\\'", "'").replaceAll('"', '\\"')
    const segment = index === undefined ? (name ?? unquoted(quoted ?? '')) : Number(index)
    if (segment === undefined) return undefined
    path.push(segment)
  }
  return path
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}
