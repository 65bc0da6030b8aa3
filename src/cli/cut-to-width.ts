/** Characters that take two columns in a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const ESCAPES = /(\u001b\[\d+m)/

/** As much of one line as fits the columns; colours take no room, and what is cut ends in `…`. */
export function cutToWidth(line: string, columns: number): string {
  let room = columns - 1
  let shown = ''
  let isCut = false
  for (const piece of line.split(ESCAPES)) {
    if (ESCAPES.test(piece)) shown += piece
    else if (!isCut) {
      for (const character of piece) {
        const width = WIDE.test(character) ? 2 : 1
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
