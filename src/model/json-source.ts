// Finds values in a text that is known to be JSON, without parsing it: parsing merges duplicate keys and
// rounds integers, and whoever judges arguments must see them as they came.

/** Where the value of a member begins; of duplicates the last, which is the one that parsing keeps. */
export function memberAt(text: string, at: number, name: string): number {
  let found = at
  let position = space(text, space(text, at) + 1)
  while (text[position] === '"') {
    const keyEnd = valueEnd(text, position)
    const value = space(text, space(text, keyEnd) + 1)
    if (JSON.parse(text.slice(position, keyEnd)) === name) found = value
    position = nextOf(text, value)
  }
  return found
}

/** Where each element of a list begins. */
export function elementsAt(text: string, at: number): readonly number[] {
  const starts: number[] = []
  let position = space(text, at + 1)
  while (position < text.length && text[position] !== ']') {
    starts.push(position)
    position = nextOf(text, position)
  }
  return starts
}

/** The text of the value that begins there. */
export function valueText(text: string, at: number): string {
  return text.slice(at, valueEnd(text, at))
}

function nextOf(text: string, value: number): number {
  const end = space(text, valueEnd(text, value))
  return text[end] === ',' ? space(text, end + 1) : end
}

const STRUCTURE = /["[\]{}]/g
const WORD_END = /[,\]}\s]/g
const STRING_END = /["\\]/g
const NOT_SPACE = /[^ \t\n\r]/g

/** Where a value ends. The text is known to be JSON, so counting brackets outside strings is enough. */
function valueEnd(text: string, at: number): number {
  if (text[at] === '"') return stringEnd(text, at)
  if (text[at] !== '{' && text[at] !== '[') return find(WORD_END, text, at)
  let depth = 0
  let position = at
  while (position < text.length) {
    const found = find(STRUCTURE, text, position)
    const character = text[found]
    if (character === '"') {
      position = stringEnd(text, found)
      continue
    }
    depth += character === '{' || character === '[' ? 1 : -1
    position = found + 1
    if (depth === 0) break
  }
  return position
}

function stringEnd(text: string, at: number): number {
  let position = at + 1
  for (;;) {
    const found = find(STRING_END, text, position)
    if (text[found] !== '\\') return found + 1
    position = found + 2
  }
}

function space(text: string, at: number): number {
  return find(NOT_SPACE, text, at)
}

/** Where the pattern is found next, or the end of the text. */
function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}
