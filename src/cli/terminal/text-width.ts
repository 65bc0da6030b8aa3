import { COLOUR } from './paint.ts'

/** Characters that take two columns in a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

/** How many columns a character takes. */
export const widthOfCharacter = (character: string) => (WIDE.test(character) ? 2 : 1)

/** How many columns a text of one line takes, colours apart. */
export function widthOf(text: string): number {
  let width = 0
  for (const piece of text.split(COLOUR)) {
    if (!COLOUR.test(piece)) for (const each of piece) width += widthOfCharacter(each)
  }
  return width
}
