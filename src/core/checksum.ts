import { sha256Hex } from '#hash'
import { keepChecksum, knownChecksum } from './argument-facts.ts'
import { canonicalMember } from './canonical.ts'
import { wrongInput } from './wrong-input.ts'

/** The content address of a call: SHA-256, in hex, of the canonical JSON of `{ tool, args }`. */
export function checksum(tool: string, args: unknown): string {
  // A call is asked for, announced, run and recorded under one checksum: it is computed once.
  const isObject = typeof args === 'object' && args !== null
  const known = isObject ? knownChecksum(args, tool) : undefined
  if (known !== undefined) return known
  // `args` sorts before `tool`; writing the outer object by hand spares a second walk over it.
  const text = canonicalMember(args, 'args', 2)
  const head = text === undefined ? '{' : `{"args":${text},`
  const digest = sha256Hex(`${head}"tool":${toolText(tool)}}`)
  if (isObject) keepChecksum(args, tool, digest)
  return digest
}

let lastTool = ''
let lastText = '""'

/** A tool's name as JSON; the same tools are called over and over. */
function toolText(tool: string): string {
  if (tool === lastTool) return lastText
  if (typeof tool !== 'string') {
    throw wrongInput('checksum', 'tool', "must be a tool's name: `checksum('read_log', args)`")
  }
  const text = JSON.stringify(tool)
  // A model may ask for a tool with a name of megabytes, which is not to be kept.
  if (tool.length <= 64) {
    lastTool = tool
    lastText = text
  }
  return text
}
