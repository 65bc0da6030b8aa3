import { BobbinError } from '../core/error.ts'
import type { LinePosition } from './line-window.ts'

/** A place in the lines of an artifact, as text that a model hands back. */
export function lineCursor({ line, offset }: LinePosition): string {
  return offset === 0 ? `line:${line}` : `line:${line}+${offset}`
}

/** Reads what `lineCursor` wrote. */
export function readLineCursor(cursor: string): LinePosition {
  const [, line, offset] = /^line:(\d{1,15})(?:\+(\d{1,15}))?$/.exec(cursor) ?? []
  if (line === undefined) throw invalidCursor(cursor)
  return { line: Number(line), offset: Number(offset ?? 0) }
}

/** A position in a sequence of items: how many come before it, and the byte where it begins. */
export interface ItemPosition {
  readonly index: number
  readonly byte: number
}

/** A place among the items of an artifact, as text that a model hands back. */
export function itemCursor({ index, byte }: ItemPosition): string {
  return `item:${index}@${byte}`
}

/** Reads what `itemCursor` wrote. */
export function readItemCursor(cursor: string): ItemPosition {
  const [, index, byte] = /^item:(\d{1,15})@(\d{1,15})$/.exec(cursor) ?? []
  if (index === undefined || byte === undefined) throw invalidCursor(cursor)
  return { index: Number(index), byte: Number(byte) }
}

function invalidCursor(cursor: string): BobbinError<'E_INVALID_CURSOR'> {
  const message = `\`${cursor.slice(0, 80)}\` is not a cursor of this query: pass one that an answer of the same query gave, unchanged, or leave it out.`
  return new BobbinError('E_INVALID_CURSOR', message, { cursor: cursor.slice(0, 80) })
}
