import { JsonCapture } from './json-capture.ts'
import { AT_END, malformedJson, unexpectedByte } from './json-fault.ts'
import { isDigit, isEscaped, isHex, isSpace, typeOf } from './json-grammar.ts'
import type { JsonMember, JsonType, MemberListener, ScanStart } from './json-member.ts'

// What may come next. Numbers have one state for each of their parts, from MINUS on.
const VALUE = 0
const FIRST_VALUE = 1
const FIRST_KEY = 2
const KEY = 3
const COLON = 4
const AFTER = 5
const BETWEEN = 6
const STRING = 7
const ESCAPE = 8
const HEX = 9
const LITERAL = 10
const DONE = AT_END
const MINUS = 12
const ZERO = 13
const INTEGER = 14
const POINT = 15
const FRACTION = 16
const EXPONENT = 17
const EXPONENT_SIGN = 18
const EXPONENT_DIGITS = 19

const ARRAY = 1
const OBJECT = 2
/** Nesting beyond this is refused, long before anything that recurses over it could fail. */
const MAX_DEPTH = 1_000

/**
 * A strict JSON automaton over bytes in pieces: it checks every byte, tells where the members of one
 * container begin and end, and holds nothing but the member that was asked for. Memory does not grow with the
 * document, whatever the length of its strings.
 */
export class JsonScanner {
  readonly #listener: MemberListener
  readonly #watched: number
  readonly #lines: boolean
  readonly #whole: boolean
  /** Grows with the depth: most scans are of small items, and many. */
  #stack = new Uint8Array(16)
  readonly #capture = new JsonCapture()
  #depth = 0
  #state = VALUE
  #isKey = false
  #newline = false
  #literal = ''
  #matched = 0
  #base: number
  #member: JsonMember | undefined
  #key: string | undefined

  /** The type of the value as a whole. */
  type: JsonType | undefined
  /** How many members have ended, and the byte after the last: a later scan continues there. */
  count = 0
  behind: number
  stopped = false
  paused = false

  constructor(listener: MemberListener, { byte, lines = false, whole = false, behind }: ScanStart) {
    this.#listener = listener
    this.#whole = whole
    this.#base = byte
    this.behind = byte
    this.#lines = lines || behind?.container === 'lines'
    this.#watched = this.#lines ? 0 : 1
    if (this.#lines) this.#state = BETWEEN
    if (behind === undefined) return
    this.count = behind.count
    if (behind.container === 'lines') return
    this.type = behind.container
    this.#stack[1] = behind.container === 'array' ? ARRAY : OBJECT
    this.#depth = 1
    this.#state = AFTER
  }

  /** True when the value is over. */
  get done(): boolean {
    return this.#state === DONE
  }

  /** The byte after the part that was read, or after the value when it has ended. */
  get position(): number {
    return this.#base
  }

  /** Continues after a pause; the next bytes to write begin at `position`. */
  resume(): void {
    this.stopped = false
    this.paused = false
  }

  /** Takes the next bytes; they are not held on to. */
  write(input: Uint8Array): void {
    if (this.stopped) return
    // Parts of a Node `Buffer` are buffers, which are slow to make and share memory.
    const chunk = new Uint8Array(input.buffer, input.byteOffset, input.length)
    const read = this.done ? 0 : this.#scan(chunk)
    this.#capture.carry(chunk, this.#base)
    if (this.done && this.#whole) this.#requireSpace(chunk, read)
    this.#base += this.done && this.#whole ? chunk.length : read
  }

  /** Ends the input, which may be what ends a number. */
  finish(): void {
    if (this.#state >= MINUS && this.#depth === 0) {
      this.#requireNumber(0)
      this.#endValue(new Uint8Array(), 0)
    }
    if (this.done || this.#state === BETWEEN || this.stopped) return
    throw malformedJson(this.#base, 'the text ends here')
  }

  /** The hot loop. Everything that happens outside the watched container stays in local variables. */
  #scan(chunk: Uint8Array): number {
    const end = chunk.length
    let state = this.#state
    let i = 0
    while (i < end) {
      let byte = chunk[i] as number
      if (state === STRING) {
        while (byte !== 0x22 && byte !== 0x5c && byte >= 0x20 && ++i < end) {
          byte = chunk[i] as number
        }
        if (i >= end) break
        i++
        if (byte === 0x5c) state = ESCAPE
        else if (byte < 0x20) throw malformedJson(this.#base + i - 1, 'a control character')
        else if (this.#isKey) {
          if (this.#depth === this.#watched) {
            this.#key = this.#capture.endKey(chunk, this.#base, i, this.#listener.wantsKey)
          }
          state = COLON
        } else {
          state = this.#endValue(chunk, i)
          if (this.#isOver) return i
        }
      } else if (state <= BETWEEN) {
        i++
        if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
          if (byte === 0x0a) this.#newline = true
          continue
        }
        if (state === AFTER && byte === 0x2c)
          state = this.#stack[this.#depth] === ARRAY ? VALUE : KEY
        else if (state === COLON && byte === 0x3a) state = VALUE
        else if (byte === 0x22 && (state === KEY || state === FIRST_KEY)) {
          this.#isKey = true
          if (this.#depth === this.#watched) this.#capture.begin('key', this.#base + i - 1)
          state = STRING
        } else if (this.#closes(state, byte)) {
          this.#depth--
          state = this.#endValue(chunk, i)
          if (this.#isOver) return i
        } else {
          state = this.#beginValue(state, i - 1, byte)
          if (this.stopped) return i
        }
      } else if (state >= MINUS) {
        // A number ends at the first byte that does not belong to it; that byte is read again.
        const next = nextInNumber(state, byte)
        if (next !== 0) {
          state = next
          i++
          continue
        }
        this.#state = state
        this.#requireNumber(i)
        state = this.#endValue(chunk, i)
        if (this.#isOver) return i
      } else {
        state = this.#insideByte(state, i++, byte)
        if (state === AFTER) {
          state = this.#endValue(chunk, i)
          if (this.#isOver) return i
        }
      }
    }
    this.#state = state
    return i
  }

  #requireSpace(chunk: Uint8Array, from: number): void {
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i] as number
      if (!isSpace(byte)) throw unexpectedByte(this.#base + i, byte, DONE)
    }
  }

  get #isOver(): boolean {
    return this.stopped || this.#state === DONE
  }

  #closes(state: number, byte: number): boolean {
    if (byte === 0x5d) {
      return state === FIRST_VALUE || (state === AFTER && this.#stack[this.#depth] === ARRAY)
    }
    if (byte !== 0x7d) return false
    return state === FIRST_KEY || (state === AFTER && this.#stack[this.#depth] === OBJECT)
  }

  #beginValue(state: number, i: number, byte: number): number {
    const type =
      state === AFTER || (state >= FIRST_KEY && state <= COLON) ? undefined : typeOf(byte)
    if (type === undefined) throw unexpectedByte(this.#base + i, byte, state)
    if (state === BETWEEN && this.count > 0 && !this.#newline) {
      throw malformedJson(this.#base + i, 'a second value on one line')
    }
    this.#newline = false
    if (this.#depth === 0) this.type = type
    if (this.#depth === this.#watched) this.#beginMember(type, this.#base + i)
    if (byte === 0x22) {
      this.#isKey = false
      return STRING
    }
    if (byte === 0x7b || byte === 0x5b) {
      if (this.#depth === MAX_DEPTH) {
        throw malformedJson(this.#base + i, `a bracket nested deeper than ${MAX_DEPTH} levels`)
      }
      this.#depth++
      if (this.#depth === this.#stack.length) this.#growStack()
      this.#stack[this.#depth] = byte === 0x5b ? ARRAY : OBJECT
      return byte === 0x5b ? FIRST_VALUE : FIRST_KEY
    }
    if (type === 'number') return byte === 0x2d ? MINUS : byte === 0x30 ? ZERO : INTEGER
    this.#literal = byte === 0x74 ? 'true' : byte === 0x66 ? 'false' : 'null'
    this.#matched = 1
    return LITERAL
  }

  #growStack(): void {
    const deeper = new Uint8Array(this.#stack.length * 4)
    deeper.set(this.#stack)
    this.#stack = deeper
  }

  #beginMember(type: JsonType, start: number): void {
    const member = { index: this.count, key: this.#key, type, start }
    const wish = this.#listener.begin(member)
    this.stopped = wish === 'stop'
    this.#member = member
    if (wish === 'keep') this.#capture.begin('value', start)
  }

  /** Escapes and literals, byte by byte; gives `AFTER` when a literal is complete. */
  #insideByte(state: number, i: number, byte: number): number {
    if (state === ESCAPE) {
      if (isEscaped(byte)) return STRING
      if (byte !== 0x75) throw unexpectedByte(this.#base + i, byte, state)
      this.#matched = 0
      return HEX
    }
    if (state === HEX) {
      if (!isHex(byte)) throw unexpectedByte(this.#base + i, byte, state)
      return ++this.#matched === 4 ? STRING : HEX
    }
    if (byte !== this.#literal.charCodeAt(this.#matched))
      throw unexpectedByte(this.#base + i, byte, state)
    return ++this.#matched === this.#literal.length ? AFTER : LITERAL
  }

  #requireNumber(i: number): void {
    if (isNumber(this.#state)) return
    throw malformedJson(this.#base + i, 'the end of a number that lacks a digit')
  }

  /** The state after a value; calls the listener if the value was a member. */
  #endValue(chunk: Uint8Array, i: number): number {
    this.#state = this.#depth > 0 ? AFTER : this.#lines ? BETWEEN : DONE
    if (this.#lines) this.#newline = false
    if (this.#depth === this.#watched && this.#member !== undefined) this.#endMember(chunk, i)
    return this.#state
  }

  #endMember(chunk: Uint8Array, i: number): void {
    const end = this.#base + i
    const bytes = this.#capture.endValue(chunk, this.#base, i)
    const { index, key, type, start } = this.#member as JsonMember
    this.#member = undefined
    this.#key = undefined
    this.count++
    this.behind = end
    const wish = this.#listener.end({ index, key, type, start, end, bytes })
    this.stopped = wish !== 'continue'
    this.paused = wish === 'pause'
  }
}

/** The part of a number that a byte leads to; 0 when the byte does not belong to the number. */
function nextInNumber(state: number, byte: number): number {
  if (isDigit(byte)) {
    if (state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS) return state
    if (state === MINUS) return byte === 0x30 ? ZERO : INTEGER
    if (state === POINT) return FRACTION
    return state === ZERO ? 0 : EXPONENT_DIGITS
  }
  const isInteger = state === ZERO || state === INTEGER
  if (byte === 0x2e) return isInteger ? POINT : 0
  if (byte === 0x65 || byte === 0x45) return isInteger || state === FRACTION ? EXPONENT : 0
  return (byte === 0x2b || byte === 0x2d) && state === EXPONENT ? EXPONENT_SIGN : 0
}

/** Whether a number may end in this state. */
const isNumber = (state: number) =>
  state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS
