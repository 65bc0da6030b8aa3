import { issuesText, type Validation } from '../tools/input-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { toolShortcuts } from '../tools/tool-class.ts'
import type { ToolRegistry } from '../tools/tool-registry.ts'
import type { ReadRequest } from './read-request.ts'
import { type RepeatGuard, repeatHint, repeatRefusal } from './repeat-guard.ts'

/** What becomes of a request: it runs, or it is refused with a text that the model can act on. */
export type Admission =
  | {
      readonly verdict: 'run'
      readonly tool: Tool
      /** What the handler gets; validated once, here. */
      readonly value: unknown
      /** Goes with the result when the model repeats itself. */
      readonly hint: string | undefined
    }
  | { readonly verdict: 'refuse'; readonly text: string; readonly stopsTurn: boolean }

const NAMES_SHOWN = 30

/** Decides on one request: known tool, readable arguments, schema, and how often it was asked before. */
export function admit(
  request: ReadRequest,
  tools: ToolRegistry,
  guard: RepeatGuard,
): Admission | Promise<Admission> {
  const tool = tools.get(request.tool)
  const { checksum: repeated } = request
  const verdict = guard.judge(repeated, tool?.repeat === false)
  if (verdict === 'stop') return refuse(repeatRefusal(guard.count(repeated)), true)
  if (verdict === 'refuse') return refuse(repeatRefusal(guard.count(repeated)))
  if (tool === undefined) return refuse(unknownTool(tools))
  if (request.fault !== undefined) return refuse(`${request.fault} Send them again, corrected.`)
  const hint = verdict === 'hint' ? repeatHint(guard.count(repeated)) : undefined
  const result = toolShortcuts().validate(tool, request.args)
  return result instanceof Promise
    ? result.then((late) => admission(tool, late, hint))
    : admission(tool, result, hint)
}

function admission(tool: Tool, result: Validation, hint: string | undefined): Admission {
  if (result.ok) return { verdict: 'run', tool, value: result.value, hint }
  return refuse(
    `The arguments do not fit the tool's schema: ${issuesText(result.issues)}. Correct them and call again.`,
  )
}

const refuse = (text: string, stopsTurn = false): Admission => ({
  verdict: 'refuse',
  text,
  stopsTurn,
})

/** Names what there is and never repeats what was asked for: that is the model's own, unchecked text. */
function unknownTool(tools: ToolRegistry): string {
  const { names } = tools
  if (names.length === 0)
    return 'There is no such tool; no tools are available. Answer without one.'
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return `There is no such tool. The tools are: ${names.slice(0, NAMES_SHOWN).join(', ')}${more}.`
}
