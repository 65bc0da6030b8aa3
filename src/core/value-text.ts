import { sha256Hex } from '#hash'
import { brief } from './cut-text.ts'

/** What is described at most: all of any value that would be small enough for arguments. */
const MAX_CHARS = 4 * 1024 * 1024
const MAX_DEPTH = 500
const MAX_BITS = 4096

/**
 * A text that tells values apart that have no JSON form, or none within the limits: like JSON, keys in
 * order, with words for the rest. Never throws; what goes on beyond the bounds is told by its size alone.
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
      return write(state, `${BigInt.asIntN(MAX_BITS, value).toString(16)}n`)
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
    if (i in value) writeMember(state, () => value[i])
    write(state, ',')
  }
  write(state, ']')
}

function writeObject(state: Writing, value: object): void {
  const keys = Object.keys(value)
  const shown = keys.length <= state.left ? keys : keys.slice(0, Math.max(0, state.left))
  write(state, '{')
  for (const key of [...shown.sort(), ...Object.getOwnPropertySymbols(value)]) {
    if (state.left <= 0) return write(state, `…${keys.length}`)
    writeValue(state, key)
    write(state, ':')
    writeMember(state, () => Reflect.get(value, key))
    write(state, ',')
  }
  write(state, '}')
}

/** One member that cannot be read must not hide the others. */
function writeMember(state: Writing, read: () => unknown): void {
  let member: unknown
  try {
    member = read()
  } catch {
    return write(state, 'unreadable')
  }
  writeValue(state, member)
}

function writeEntries(state: Writing, kind: string, entries: Iterable<unknown>): void {
  write(state, `${kind}[`)
  for (const entry of entries) {
    if (state.left <= 0) return write(state, '…')
    writeValue(state, entry)
    write(state, ',')
  }
  write(state, ']')
}

function writeBytes(state: Writing, value: ArrayBufferView): void {
  const { buffer, byteOffset, byteLength } = value
  const bytes = new Uint8Array(buffer, byteOffset, Math.min(byteLength, Math.max(0, state.left)))
  write(state, `bytes ${byteLength} ${sha256Hex(bytes)}`)
  state.left -= bytes.length
}
