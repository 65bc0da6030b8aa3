import { asList, asObject } from '../../model/wire-value.ts'
import { isCall } from './server-tools.ts'

/**
 * The value with each block's `input` as the text that was received. Parsing merges duplicate keys and
 * rounds integers, so whoever must judge the arguments needs them as they came. `source` is the JSON
 * text of `value`: an event with one block, an event with a message, or a message.
 */
export function withInputText(value: unknown, source: string): unknown {
  const root = asObject(value)
  if (root === undefined) return value
  if (hasInput(root['content_block'])) {
    const block = member(source, 0, 'content_block')
    return { ...root, content_block: inputAsText(root['content_block'], source, block) }
  }
  const message = asObject(root['message'])
  if (message !== undefined && asList(message['content']).some(hasInput)) {
    return { ...root, message: contentAsText(message, source, member(source, 0, 'message')) }
  }
  return asList(root['content']).some(hasInput) ? contentAsText(root, source, 0) : value
}

function hasInput(value: unknown): boolean {
  const block = asObject(value)
  const input = isCall(block?.['type']) ? asObject(block?.['input']) : undefined
  return input !== undefined && Object.keys(input).length > 0
}

function contentAsText(message: object, source: string, at: number): object {
  const starts = elements(source, member(source, at, 'content'))
  const blocks = asList((message as { content?: unknown }).content)
  const content = blocks.map((block, index) => inputAsText(block, source, starts[index] ?? 0))
  return { ...message, content }
}

function inputAsText(block: unknown, source: string, at: number): unknown {
  if (!hasInput(block)) return block
  const start = member(source, at, 'input')
  return { ...asObject(block), input: source.slice(start, valueEnd(source, start)) }
}

/** Where the value of a member begins; of duplicates the last, which is the one that parsing keeps. */
function member(text: string, at: number, name: string): number {
  let found = at
  let position = space(text, space(text, at) + 1)
  while (text[position] === '"') {
    const keyEnd = valueEnd(text, position)
    const value = space(text, space(text, keyEnd) + 1)
    if (JSON.parse(text.slice(position, keyEnd)) === name) found = value
    position = space(text, valueEnd(text, value))
    if (text[position] === ',') position = space(text, position + 1)
  }
  return found
}

/** Where each element of a list begins. */
function elements(text: string, at: number): readonly number[] {
  const starts: number[] = []
  let position = space(text, at + 1)
  while (position < text.length && text[position] !== ']') {
    starts.push(position)
    position = space(text, valueEnd(text, position))
    if (text[position] === ',') position = space(text, position + 1)
  }
  return starts
}

/** Where a value ends. The text is known to be JSON, so counting brackets outside strings is enough. */
function valueEnd(text: string, at: number): number {
  let depth = 0
  let position = at
  do {
    const character = text[position]
    if (character === '"') position = stringEnd(text, position)
    else {
      if (character === '{' || character === '[') depth++
      else if (character === '}' || character === ']') depth--
      position++
      if (depth === 0 && character !== '}' && character !== ']') {
        while (position < text.length && !',]} \t\n\r'.includes(text.charAt(position))) position++
      }
    }
  } while (depth > 0 && position < text.length)
  return position
}

function stringEnd(text: string, at: number): number {
  let position = at + 1
  while (position < text.length && text[position] !== '"')
    position += text[position] === '\\' ? 2 : 1
  return position + 1
}

function space(text: string, at: number): number {
  let position = at
  while (position < text.length && ' \t\n\r'.includes(text.charAt(position))) position++
  return position
}
