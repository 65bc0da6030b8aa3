import type { JsonValue } from '../../core/json.ts'
import { asObject } from '../../model/wire-value.ts'

/**
 * The parts of a response with the arguments of calls as the text that was sent: parsing has merged
 * duplicate keys in them and rounded large integers. `source` is what `response` was parsed from.
 */
export function partsWithArgsText(
  parts: readonly JsonValue[],
  candidate: number,
  source: string,
): readonly JsonValue[] {
  if (!parts.some(hasArgs)) return parts
  const candidates = elements(source, member(source, 0, 'candidates'))
  const content = member(source, candidates[candidate] ?? 0, 'content')
  const starts = elements(source, member(source, content, 'parts'))
  return parts.map((part, index) => {
    if (!hasArgs(part)) return part
    const call = member(source, starts[index] ?? 0, 'functionCall')
    const start = member(source, call, 'args')
    const args = source.slice(start, valueEnd(source, start))
    return {
      ...asObject(part),
      functionCall: { ...asObject(asObject(part)?.['functionCall']), args },
    }
  })
}

function hasArgs(part: JsonValue): boolean {
  const args = asObject(asObject(asObject(part)?.['functionCall'])?.['args'])
  return args !== undefined && Object.keys(args).length > 0
}

/** Where the value of a member begins; of duplicates the last, which is the one that parsing keeps. */
function member(text: string, at: number, name: string): number {
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
function elements(text: string, at: number): readonly number[] {
  const starts: number[] = []
  let position = space(text, at + 1)
  while (position < text.length && text[position] !== ']') {
    starts.push(position)
    position = nextOf(text, position)
  }
  return starts
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
