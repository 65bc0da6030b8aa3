import { charBefore } from '../core/error/cut-text.ts'

/** A code point as it is shown: `\u{202E}`. */
export function escapeCodePoint(codePoint: number): string {
  return `\\u{${codePoint.toString(16).toUpperCase()}}`
}

/**
 * Shows what a reader would not see (controls, ANSI escapes, bidi marks, zero-width and tag
 * characters, stray variation selectors, lone surrogates) as `\u{…}`. Newline, tab and everything
 * visible stay as they are, and so do joiners and selectors where a script or an emoji needs them.
 *
 * It can be undone: each `\u{HEX}` (upper case) in the answer stands for that code point, since one that
 * was in the text already has its backslash shown as `\u{5C}`.
 */
export function visibleText(text: string): string {
  if (!SUSPECT_ASCII.test(text)) return text
  return text.replace(SUSPECT, showUnlessInPlace)
}

/** The same without the way back: backslashes stay, so that text which is already shown stays as it is. */
export function shownText(text: string): string {
  return SUSPECT_ASCII.test(text) ? text.replace(UNSEEN, showUnlessInPlace) : text
}

/** Passes plain ASCII at once: most text is. */
const SUSPECT_ASCII = /[^\t\n\x20-\x7e]|\\u\{/

/**
 * Spelled out instead of asked by property, so that an engine with a newer Unicode table does not
 * render an old prompt anew. A test holds it against the engine's own table.
 */
const HIDDEN = [
  String.raw`\0-\x08\x0b-\x1f\x7f-\x9f\xad`,
  String.raw`\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f`,
  String.raw`\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164`,
  String.raw`\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff`,
  String.raw`\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`,
  ...Array.from({ length: 16 }, (_, i) => {
    const plane = (i + 1).toString(16)
    return `\\u{${plane}fffe}\\u{${plane}ffff}`
  }),
].join('')

/** With the `u` flag a surrogate in a class matches only where its other half is missing. */
const UNSEEN = new RegExp(`[${HIDDEN}]`, 'gu')
const SUSPECT = new RegExp(String.raw`\\(?=u\{[0-9A-F]{1,6}\})|[${HIDDEN}]`, 'gu')

function showUnlessInPlace(char: string, offset: number, text: string): string {
  return isInPlace(char, offset, text) ? char : escapeCodePoint(char.codePointAt(0) ?? 0)
}

/** True where the character does what it is made for: a line end, an emoji, a cursive or Indic word. */
function isInPlace(char: string, offset: number, text: string): boolean {
  switch (char) {
    case '\r':
      return text[offset + 1] === '\n'
    case '\ufe0e':
    case '\ufe0f':
      return isSelectable(charBefore(text, offset), text[offset + 1])
    case '\u200c':
      return joinsLetters(text, offset)
    case '\u200d':
      return joinsLetters(text, offset) || joinsEmoji(text, offset)
    case '\u180b':
    case '\u180c':
    case '\u180d':
    case '\u180e':
    case '\u180f':
      return MONGOLIAN.test(charBefore(text, offset))
    default:
      return false
  }
}

const PICTOGRAPH = /^\p{Extended_Pictographic}$/u
const PICTOGRAPH_OR_TONE = /^[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}]$/u
const KEYCAP = /^[#*0-9]$/
const MONGOLIAN = /^[\u1820-\u18aa]$/
const LETTER_OR_MARK = /^[\p{L}\p{M}]$/u
const JOINING_SCRIPTS =
  'Arabic Syriac Mongolian Nko Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar Tibetan'
const JOINING = new RegExp(
  `^[${JOINING_SCRIPTS.split(' ')
    .map((script) => `\\p{Script=${script}}`)
    .join('')}]$`,
  'u',
)

function isSelectable(base: string, next: string | undefined): boolean {
  return PICTOGRAPH.test(base) || (KEYCAP.test(base) && next === '\u20e3')
}

function joinsEmoji(text: string, offset: number): boolean {
  if (!PICTOGRAPH.test(after(text, offset))) return false
  const previous = charBefore(text, offset)
  if (previous === '\ufe0f') return PICTOGRAPH.test(charBefore(text, offset - 1))
  return PICTOGRAPH_OR_TONE.test(previous)
}

function joinsLetters(text: string, offset: number): boolean {
  return isJoining(charBefore(text, offset)) && isJoining(after(text, offset))
}

const isJoining = (char: string) => JOINING.test(char) && LETTER_OR_MARK.test(char)

/** The code point after the one at `offset`; empty at the end. */
function after(text: string, offset: number): string {
  const codePoint = text.codePointAt(offset + 1)
  return codePoint === undefined ? '' : String.fromCodePoint(codePoint)
}
