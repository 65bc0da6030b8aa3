import { elementsAt, memberAt, textAt } from '../../../core/json/json-scan.ts'
import { asList, asObject } from '../../../model/wire/wire-value.ts'

/**
 * The response with the input of each call as the text that was received. Parsing merges duplicate keys and rounds
 * integers, so the arguments must be judged as they were sent. `source` is the JSON text of the response.
 */
export function withInputText(payload: unknown, source: string): unknown {
  const root = asObject(payload)
  const output = asObject(root?.['output'])
  const message = asObject(output?.['message'])
  const blocks = asList(message?.['content'])
  if (!blocks.some(hasInput)) return payload
  const at = memberAt(source, memberAt(source, 0, 'output'), 'message')
  const starts = elementsAt(source, memberAt(source, at, 'content'))
  const content = blocks.map((block, index) => inputAsText(block, source, starts[index] ?? 0))
  return { ...root, output: { ...output, message: { ...message, content } } }
}

function hasInput(block: unknown): boolean {
  const input = asObject(asObject(asObject(block)?.['toolUse'])?.['input'])
  return input !== undefined && Object.keys(input).length > 0
}

function inputAsText(block: unknown, source: string, at: number): unknown {
  if (!hasInput(block)) return block
  const use = memberAt(source, at, 'toolUse')
  const input = textAt(source, memberAt(source, use, 'input'))
  return { ...asObject(block), toolUse: { ...asObject(asObject(block)?.['toolUse']), input } }
}
