import { sha256Hex } from '#hash'
import { BobbinError } from '../../core/error/error.ts'
import type { LinePosition } from './line-window.ts'

/** A place in the lines of an artifact, as text that a model hands back; any line of any text is such a place. */
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

/** A place among the items of `source`, as text that a model hands back. */
export function itemCursor({ index, byte }: ItemPosition, source: string): string {
  return signed(`item:${index}@${byte}`, source)
}

/** Reads what `itemCursor` wrote for the same source. */
export function readItemCursor(cursor: string, source: string): ItemPosition {
  const [, index, byte] = /^item:(\d{1,15})@(\d{1,15})#/.exec(checked(cursor, source)) ?? []
  if (index === undefined || byte === undefined) throw invalidCursor(cursor)
  return { index: Number(index), byte: Number(byte) }
}

/** A line where a block begins, or a line inside a fence, comment or front matter that the line `opened` began. */
export interface BlockPosition {
  readonly line: number
  readonly opened?: number
}

/** A place among the blocks of `source`, as text that a model hands back. */
export function blockCursor({ line, opened }: BlockPosition, source: string): string {
  return signed(`line:${line}${opened === undefined ? '' : `~${opened}`}`, source)
}

/** Reads what `blockCursor` wrote for the same source. */
export function readBlockCursor(cursor: string, source: string): BlockPosition {
  const place = /^line:(\d{1,15})(?:~(\d{1,15}))?#/
  const [, line, opened] = place.exec(checked(cursor, source)) ?? []
  if (line === undefined) throw invalidCursor(cursor)
  return { line: Number(line), ...(opened !== undefined && { opened: Number(opened) }) }
}

/**
 * A place that only some bytes are carries a digest of itself and its source: from any other, sound text would look
 * broken, or quoted text like items. It keeps mistakes out, not attackers: what they can reach is the artifact itself.
 */
function signed(place: string, source: string): string {
  return `${place}#${sha256Hex(`${source}\n${place}`).slice(0, 8)}`
}

function checked(cursor: string, source: string): string {
  const place = cursor.slice(0, cursor.lastIndexOf('#'))
  if (cursor !== signed(place, source)) throw invalidCursor(cursor)
  return cursor
}

function invalidCursor(cursor: string): BobbinError<'E_INVALID_CURSOR'> {
  const shown = cursor.slice(0, 80)
  const message = `\`${shown}\` is not a cursor of this query: pass one that an answer about the same result and path gave, unchanged, or leave it out.`
  return new BobbinError('E_INVALID_CURSOR', message, { cursor: shown })
}
