import { sha256Hex } from '#hash'
import { brief } from './error/cut-text.ts'

/** The limits of a description: large enough for any value that could be arguments. */
const MAX_CHARS = 4 * 1024 * 1024
const MAX_DEPTH = 500
const MAX_BITS = 4096
const DECIMAL_BITS = 512

/**
 * A text for values without a JSON form, or beyond the limits, so that different values have different texts. It
 * looks like JSON with sorted keys. Never throws; parts beyond the bounds are described by their size.
 */
export function valueText(value: unknown): string {
  const state: Writing = { text: '', left: MAX_CHARS, depths: new Map() }
  writeValue(state, value)
  return state.text
}

interface Writing {
  text: string
  /** Characters that may still be written. */
  left: number
  /** The containers that the walk is in, with their depths. */
  readonly depths: Map<object, number>
}

function write(state: Writing, text: string): void {
  state.text += text
  // A piece of text takes more room than its characters until all are joined.
  state.left -= text.length + 4
}

function writeValue(state: Writing, value: unknown): void {
  switch (typeof value) {
    case 'string':
      return writeString(state, value)
    case 'bigint':
      return write(state, bigintText(value))
    case 'symbol':
      write(state, 'symbol ')
      return writeString(state, value.description ?? '')
    case 'function':
      return write(state, 'function')
    case 'object':
      return value === null ? write(state, 'null') : writeContainer(state, value)
    default:
      return write(state, String(value))
  }
}

/** Decimal, as it is written in a program. Hexadecimal beyond what a wire sends: decimal digits of a long one cost too much. */
function bigintText(value: bigint): string {
  const isShort = BigInt.asIntN(DECIMAL_BITS, value) === value
  return isShort ? `${value}n` : `hex ${BigInt.asIntN(MAX_BITS, value).toString(16)}n`
}

function writeString(state: Writing, value: string): void {
  if (value.length <= state.left) return write(state, JSON.stringify(value))
  write(state, `${JSON.stringify(value.slice(0, Math.max(0, state.left)))}…${value.length}`)
}

function writeContainer(state: Writing, value: object): void {
  const { depths } = state
  const depth = depths.get(value)
  if (depth !== undefined) return write(state, `circle ${depth}`)
  if (depths.size === MAX_DEPTH || state.left <= 0) return write(state, '…')
  depths.set(value, depths.size)
  // Getters and proxies run code of their own, which may throw anything.
  try {
    writeMembers(state, value)
  } catch {
    write(state, 'unreadable')
  }
  depths.delete(value)
}

function writeMembers(state: Writing, value: object): void {
  if (Array.isArray(value)) return writeList(state, value)
  if (ArrayBuffer.isView(value)) return writeBytes(state, value)
  // Only the real ones answer to the methods of their kind; look-alikes throw.
  const kind = Object.prototype.toString.call(value)
  switch (kind) {
    case '[object Object]':
      return writeObject(state, value)
    case '[object Date]':
      return write(state, `date ${Date.prototype.getTime.call(value)}`)
    case '[object String]':
      return writeString(state, String.prototype.valueOf.call(value))
    case '[object Map]':
      return writeEntries(state, 'map', Map.prototype.entries.call(value))
    case '[object Set]':
      return writeEntries(state, 'set', Set.prototype.values.call(value))
    default:
      write(state, brief(kind, 100))
      return writeObject(state, value)
  }
}

function writeList(state: Writing, value: readonly unknown[]): void {
  const { length } = value
  write(state, '[')
  for (let i = 0; i < length; i++) {
    if (state.left <= 0) return write(state, `…${length}`)
    if (i > 0) write(state, ',')
    writeMember(state, () => (i in value ? value[i] : HOLE))
  }
  write(state, ']')
}

function writeObject(state: Writing, value: object): void {
  const keys = Object.keys(value)
  const shown = keys.length <= state.left ? keys : keys.slice(0, Math.max(0, state.left))
  write(state, '{')
  const symbols = Object.getOwnPropertySymbols(value)
  for (const [place, key] of [...shown.sort(), ...symbols].entries()) {
    if (state.left <= 0) return write(state, `…${keys.length}`)
    if (place > 0) write(state, ',')
    writeValue(state, key)
    write(state, ':')
    writeMember(state, () => Reflect.get(value, key))
  }
  write(state, '}')
}

/** Stands in a text for an element that a list does not have. */
const HOLE = Symbol('hole')

/** One member that cannot be read must not hide the others. */
function writeMember(state: Writing, read: () => unknown): void {
  let member: unknown
  try {
    member = read()
  } catch {
    return write(state, 'unreadable')
  }
  if (member === HOLE) write(state, 'hole')
  else writeValue(state, member)
}

function writeEntries(state: Writing, kind: string, entries: Iterable<unknown>): void {
  write(state, `${kind}[`)
  let isFirst = true
  for (const entry of entries) {
    if (state.left <= 0) return write(state, '…')
    if (!isFirst) write(state, ',')
    isFirst = false
    writeValue(state, entry)
  }
  write(state, ']')
}

function writeBytes(state: Writing, value: ArrayBufferView): void {
  const { buffer, byteOffset, byteLength } = value
  const bytes = new Uint8Array(buffer, byteOffset, Math.min(byteLength, Math.max(0, state.left)))
  write(state, `bytes ${byteLength} ${sha256Hex(bytes)}`)
  state.left -= bytes.length
}
