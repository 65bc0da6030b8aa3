import { sha256Hex } from '#hash'
import { factsOf } from './argument-facts.ts'
import { canonicalMember } from './canonical.ts'

/** The content address of a call: SHA-256, in hex, of the canonical JSON of `{ tool, args }`. */
export function checksum(tool: string, args: unknown): string {
  // A call is asked for, announced, run and recorded under one checksum: it is computed once.
  const facts = typeof args === 'object' && args !== null ? factsOf(args) : undefined
  if (facts !== undefined && facts.tool === tool && facts.checksum !== '') return facts.checksum
  // `args` sorts before `tool`; writing the outer object by hand spares a second walk over it.
  const text = canonicalMember(args, 'args', 2)
  const head = text === undefined ? '{' : `{"args":${text},`
  const digest = sha256Hex(`${head}"tool":${toolText(tool)}}`)
  if (facts !== undefined) {
    facts.tool = tool
    facts.checksum = digest
  }
  return digest
}

let lastTool = ''
let lastText = '""'

/** A tool's name as JSON; the same tools are called over and over. */
function toolText(tool: string): string {
  if (tool === lastTool) return lastText
  const text = JSON.stringify(tool)
  // A model may ask for a tool with a name of megabytes, which is not to be kept.
  if (tool.length <= 64) {
    lastTool = tool
    lastText = text
  }
  return text
}
