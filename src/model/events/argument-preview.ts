import { wrongInput } from '../../core/error/wrong-input.ts'
import type { JsonValue } from '../../core/json/json.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COLON = 0x3a
const COMMA = 0x2c

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

type Container = unknown[] | Record<string, unknown>
type State = 'value' | 'key' | 'colon' | 'after' | 'string' | 'escape' | 'word' | 'end' | 'broken'

/**
 * A preview of arguments while they stream, for display only. Each piece is read once, so the cost of
 * a delta does not grow with the text before it. Text that is not JSON stops the preview without an error; whether a call is valid is decided later, on the whole text, by the strict parser.
 */
export class ArgumentPreview {
  #root: unknown
  #state: State = 'value'
  readonly #stack: { readonly container: Container; key: string }[] = []
  #isKey = false
  #text = ''
  #pending = ''

  /** The value so far. It is live: read it, do not keep or change it. Undefined before the first. */
  get value(): JsonValue | undefined {
    return this.#root as JsonValue | undefined
  }

  /** False once the text turned out not to be JSON; `value` then stays as it was. */
  get isReadable(): boolean {
    return this.#state !== 'broken'
  }

  push(delta: string): void {
    if (typeof delta !== 'string') {
      throw wrongInput('ArgumentPreview.push', 'delta', 'must be a piece of text')
    }
    let index = 0
    while (index < delta.length) {
      if (this.#state === 'string') index = this.#scanString(delta, index)
      else if (this.#state === 'escape') index = this.#scanEscape(delta, index)
      else if (this.#state === 'word') index = this.#scanWord(delta, index)
      else if (this.#state === 'end' || this.#state === 'broken') return
      else this.#structure(delta.charCodeAt(index), delta, index++)
    }
    const isInText = this.#state === 'string' || this.#state === 'escape'
    if (isInText && !this.#isKey) this.#assign(this.#text)
  }

  #structure(code: number, delta: string, index: number): void {
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) return
    const top = this.#stack.at(-1)
    const isArray = Array.isArray(top?.container)
    if (this.#state === 'value') {
      if (code === QUOTE) this.#openString(false)
      else if (code === OPEN_OBJECT) this.#open({}, 'key')
      else if (code === OPEN_ARRAY) this.#open([], 'value')
      else if (code === CLOSE_ARRAY && isArray) this.#close()
      else if (isWordCharacter(code)) {
        this.#state = 'word'
        this.#pending = delta[index] as string
      } else this.#state = 'broken'
    } else if (this.#state === 'key') {
      if (code === QUOTE) this.#openString(true)
      else if (code === CLOSE_OBJECT) this.#close()
      else this.#state = 'broken'
    } else if (this.#state === 'colon') {
      this.#state = code === COLON ? 'value' : 'broken'
    } else if (code === COMMA && top !== undefined) {
      this.#state = isArray ? 'value' : 'key'
    } else if (code === (isArray ? CLOSE_ARRAY : CLOSE_OBJECT) && top !== undefined) {
      this.#close()
    } else this.#state = 'broken'
  }

  #scanString(delta: string, from: number): number {
    for (let index = from; index < delta.length; index++) {
      const code = delta.charCodeAt(index)
      if (code !== QUOTE && code !== BACKSLASH) continue
      if (index > from) this.#text += delta.slice(from, index)
      if (code === BACKSLASH) {
        this.#state = 'escape'
        this.#pending = ''
      } else this.#closeString()
      return index + 1
    }
    this.#text += from === 0 ? delta : delta.slice(from)
    return delta.length
  }

  #scanEscape(delta: string, index: number): number {
    this.#pending += delta[index] as string
    const [first = ''] = this.#pending
    if (first === 'u') {
      if (this.#pending.length < 5) return index + 1
      const code = /^u[0-9a-fA-F]{4}$/.test(this.#pending)
        ? Number.parseInt(this.#pending.slice(1), 16)
        : undefined
      if (code === undefined) this.#state = 'broken'
      else this.#continueString(String.fromCharCode(code))
    } else {
      const character = ESCAPES[first]
      if (character === undefined) this.#state = 'broken'
      else this.#continueString(character)
    }
    return index + 1
  }

  /** Numbers and the three words are shown when they end: half a number is another number. */
  #scanWord(delta: string, from: number): number {
    let index = from
    while (index < delta.length && isWordCharacter(delta.charCodeAt(index))) index++
    this.#pending += delta.slice(from, index)
    if (index === delta.length) return index
    const value = wordValue(this.#pending)
    if (value === undefined) this.#state = 'broken'
    else this.#settle(value)
    return index
  }

  #openString(isKey: boolean): void {
    this.#state = 'string'
    this.#isKey = isKey
    this.#text = ''
    if (!isKey) this.#append('')
  }

  #continueString(text: string): void {
    this.#text += text
    this.#state = 'string'
  }

  #closeString(): void {
    const top = this.#stack.at(-1)
    if (this.#isKey && top !== undefined) {
      top.key = this.#text
      this.#state = 'colon'
    } else {
      this.#assign(this.#text)
      this.#state = top === undefined ? 'end' : 'after'
    }
  }

  #open(container: Container, next: State): void {
    this.#append(container)
    this.#stack.push({ container, key: '' })
    this.#state = next
  }

  #close(): void {
    this.#stack.pop()
    this.#state = this.#stack.length === 0 ? 'end' : 'after'
  }

  #settle(value: unknown): void {
    this.#append(value)
    this.#state = this.#stack.length === 0 ? 'end' : 'after'
  }

  #append(value: unknown): void {
    const top = this.#stack.at(-1)
    if (top !== undefined && Array.isArray(top.container)) top.container.push(value)
    else this.#assign(value)
  }

  /** Sets the value under way in the innermost container. */
  #assign(value: unknown): void {
    const top = this.#stack.at(-1)
    if (top === undefined) this.#root = value
    else if (Array.isArray(top.container)) top.container[top.container.length - 1] = value
    else if (top.key === '__proto__') {
      // As a plain assignment it would set the prototype; here it is a key like any other.
      const property = { value, writable: true, enumerable: true, configurable: true }
      Object.defineProperty(top.container, top.key, property)
    } else top.container[top.key] = value
  }
}

function isWordCharacter(code: number): boolean {
  const isDigitOrSign = (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b
  return isDigitOrSign || code === 0x2e || (code >= 0x61 && code <= 0x7a) || code === 0x45
}

function wordValue(word: string): unknown {
  try {
    return JSON.parse(word)
  } catch {
    return undefined
  }
}
