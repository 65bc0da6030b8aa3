import { elementsAt, memberAt, textAt } from '../../../core/json/json-scan.ts'
import { asList, asObject } from '../../../model/wire/wire-value.ts'
import { isCall } from './server-tools.ts'

/**
 * The value with each block's `input` as the text that was received. Parsing merges duplicate keys and
 * rounds integers, so the arguments must be judged as they were sent. `source` is the JSON
 * text of `value`: an event with one block, an event with a message, or a message.
 */
export function withInputText(value: unknown, source: string): unknown {
  const root = asObject(value)
  if (root === undefined) return value
  if (hasInput(root['content_block'])) {
    const block = memberAt(source, 0, 'content_block')
    return { ...root, content_block: inputAsText(root['content_block'], source, block) }
  }
  const message = asObject(root['message'])
  if (message !== undefined && asList(message['content']).some(hasInput)) {
    return { ...root, message: contentAsText(message, source, memberAt(source, 0, 'message')) }
  }
  return asList(root['content']).some(hasInput) ? contentAsText(root, source, 0) : value
}

function hasInput(value: unknown): boolean {
  const block = asObject(value)
  const input = isCall(block?.['type']) ? asObject(block?.['input']) : undefined
  return input !== undefined && Object.keys(input).length > 0
}

function contentAsText(message: object, source: string, at: number): object {
  const starts = elementsAt(source, memberAt(source, at, 'content'))
  const blocks = asList((message as { content?: unknown }).content)
  const content = blocks.map((block, index) => inputAsText(block, source, starts[index] ?? 0))
  return { ...message, content }
}

function inputAsText(block: unknown, source: string, at: number): unknown {
  if (!hasInput(block)) return block
  return { ...asObject(block), input: textAt(source, memberAt(source, at, 'input')) }
}
