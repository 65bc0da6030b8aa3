import { COLOUR } from './paint.ts'
import { widthOf, widthOfCharacter } from './text-width.ts'

/** A shorter head would no longer show what a call was asked. */
const LEAST_HEAD = 24

/** As much of one line as fits the columns; colours take no room, and what is cut ends in `…`. */
export function cutToWidth(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  let room = columns - 1
  let shown = ''
  let isCut = false
  for (const piece of line.split(COLOUR)) {
    if (COLOUR.test(piece)) shown += piece
    else if (!isCut) {
      for (const character of piece) {
        const width = widthOfCharacter(character)
        if (room < width) {
          isCut = true
          break
        }
        room -= width
        shown += character
      }
      if (isCut) shown += '…'
    }
  }
  return shown
}

/** Two parts on one line: the first is cut so that the second stays whole, where there is room for both. */
export function joinToWidth(head: string, tail: string, columns: number): string {
  const room = columns - widthOf(tail) - 1
  return cutToWidth(`${room < LEAST_HEAD ? head : cutToWidth(head, room)} ${tail}`, columns)
}
