import type { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { checksum } from '../core/checksum.ts'
import { isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import { unparsedArguments } from '../core/unparsed-arguments.ts'
import type { CallRequest } from './executor.ts'

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
