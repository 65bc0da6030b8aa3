import type { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { checksum } from '../core/checksum.ts'
import { isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import { unparsedArguments } from '../core/unparsed-arguments.ts'
import { issuesText, type Validation } from '../tools/input-schema.ts'
import { type Tool, toolShortcuts } from '../tools/tool.ts'
import type { ToolRegistry } from '../tools/tool-registry.ts'
import type { CallRequest } from './executor.ts'
import { type RepeatGuard, repeatHint, repeatRefusal } from './repeat-guard.ts'

/** Arguments as they go into the record, whether they could be read or not. */
export interface ReadRequest {
  readonly tool: string
  readonly args: JsonObject
  readonly checksum: string
  /** The text received, when it is not strict JSON; on the spool when it is long. */
  readonly rawArgs?: string | SpooledArtifact
  /** What is wrong with it, in words for the model. */
  readonly fault?: string
}

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

/** Reads a request's arguments strictly; what cannot be read is described, never repaired. */
export function readRequest(request: CallRequest): ReadRequest {
  const { tool, fault } = request
  const raw: unknown = request.rawArgs ?? request.args
  if (fault === undefined) {
    try {
      const args = normalizeArguments(request.args)
      return { tool, args, checksum: checksum(tool, args) }
    } catch (error) {
      if (!isBobbinError(error)) throw error
      return unreadable(tool, raw, error.message)
    }
  }
  return unreadable(
    tool,
    raw,
    `The arguments are not strict JSON: \`${fault.path}\` breaks the rule ${fault.rule}.`,
  )
}

function unreadable(tool: string, raw: unknown, fault: string): ReadRequest {
  const args = unparsedArguments(raw)
  return {
    tool,
    args,
    checksum: checksum(tool, args),
    fault,
    ...(typeof raw === 'string' && { rawArgs: raw }),
  }
}

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
