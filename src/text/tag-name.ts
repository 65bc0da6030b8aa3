import { escapeCodePoint } from './visible-text.ts'

/** The name of every envelope's tag. Nothing inside an envelope spells it. */
export const TAG_NAME = 'bobbin-data'

/** Shows the first letter of the tag's name as an escape wherever a text spells it, also in look-alikes. */
export function escapeTagName(text: string): string {
  if (!NON_ASCII.test(text)) return text.replace(PLAIN, escapeFirst)
  lookAlike ??= lookAlikePattern()
  return text.replace(lookAlike, escapeFirst)
}

const escapeFirst = (name: string) => {
  const first = name.codePointAt(0) ?? 0
  return escapeCodePoint(first) + name.slice(first > 0xffff ? 2 : 1)
}

const NON_ASCII = /[^\0-\x7f]/

/** What a model may read as each letter, besides the letter in other styles. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'a@4аαɑ⍺ᗅꓮᎪᴀаɐªᵃₐДΔ',
  b: 'b68ЬЪВвΒβƄƅᏏᗷꓐʙЬᵇɓƀƃђ฿ᴃ',
  d: 'dԁꓒᗞᎠꓓᴅᵈɗđɖժ',
  i: 'i1l|!іІΙιɩӏⅠⅰ∣ıɪⵏꓲǀᵢⁱℹ¡Ꭵї',
  n: 'nոռИиΝηпᴎɴᶰⁿꓠŋɲπՈ',
  o: 'o0оОΟοօՕ〇ᴏ໐०੦૦௦౦೦൦๐۵٥ⲟⲞꓳᵒₒ°ºσʘ⊙◯○ه',
  t: 't7+тТΤτᎢꓔᴛᵗ†ŧţƭ⊤ⲦⲧЛ',
  '-': '-_~‐‑‒–—―−⁃˗۔➖ー﹘﹣－＿﹍·⸺⸻᐀',
}

/** Where Unicode repeats the Latin letters: with accents, raised, wide, circled, for mathematics. */
const LATIN_RANGES = [
  [0xa0, 0x2ff],
  [0x1d00, 0x1eff],
  [0x2070, 0x218f],
  [0x2460, 0x24ff],
  [0xff00, 0xffef],
  [0x1d400, 0x1d7ff],
  [0x1f100, 0x1f1ff],
] as const
/** First letters of alphabets in shapes that do not decompose to the plain letter. */
const SHAPED_ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6]

/** Combining marks may sit on any letter. Letters are never marks, so matching stays linear. */
function lookAlikePattern(): RegExp {
  const classes = new Map(Object.entries(LOOK_ALIKES))
  const add = (letter: string, char: string) => {
    const members = classes.get(letter)
    if (members !== undefined) classes.set(letter, members + char)
  }
  for (const [first, last] of LATIN_RANGES) {
    for (let codePoint = first; codePoint <= last; codePoint++) {
      const char = String.fromCodePoint(codePoint)
      add(
        char
          .normalize('NFKD')
          .replaceAll(/[\p{M}()]/gu, '')
          .toLowerCase(),
        char,
      )
    }
  }
  for (const first of SHAPED_ALPHABETS) {
    for (const letter of 'abdinot') {
      add(letter, String.fromCodePoint(first + letter.charCodeAt(0) - 0x61))
    }
  }
  const letters = TAG_NAME.split('').map((letter) => {
    const members = classes.get(letter) ?? letter
    return `[${members.replaceAll(/[\\\]^-]/g, String.raw`\$&`)}]`
  })
  return new RegExp(letters.join(String.raw`\p{M}*`), 'giu')
}

const PLAIN = /[b68][o0][b68]{2}[i1l|!]n[-_~]d[a@4][t7+][a@4]/gi
let lookAlike: RegExp | undefined
