import { checksum } from '../core/checksum.ts'
import { BobbinError, isBobbinError } from '../core/error/error.ts'
import { thrownText } from '../core/error/thrown-text.ts'
import type { JsonObject } from '../core/json/json.ts'
import { normalizeArguments } from '../core/json/strict-json.ts'
import { isThenable } from '../core/thenable.ts'
import { unparsedArguments } from '../core/unparsed-arguments.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './execution-events.ts'
import { handlerContext } from './handler-context.ts'
import { issuesText, type Validation, type Validator } from './input-schema.ts'
import type { ExecutionContext, ToolContext, ToolOutput } from './tool-context.ts'

/** The parts of a tool that execution needs. */
export interface Executable {
  readonly name: string
  readonly validate: Validator
  readonly handler: (args: unknown, context: ToolContext) => ToolOutput | Promise<ToolOutput>
}

/**
 * Runs one call: checksum of the raw arguments, start event, validation unless admission did it, handler, end event. Emits
 * exactly one start and one end per call, whatever happens in between.
 */
export async function execute(
  tool: Executable,
  context: ExecutionContext,
  rawArgs: unknown,
): Promise<ToolOutput> {
  const { validated, toolCallId } = context
  const read = validated?.checksum === undefined ? readArguments(rawArgs) : undefined
  const callId = read ? checksum(tool.name, read.args) : (validated?.checksum as string)
  const startedAt = timeOf(context)
  const event = { callId, toolCallId, tool: tool.name, startedAt }
  const end = (code?: string) => {
    const isError = code !== undefined
    const endedAt = timeOf(context)
    emitSafely(context, {
      type: 'toolExecutionEnd',
      ...event,
      endedAt,
      isError,
      ...(isError && { code }),
    })
  }
  emitSafely(context, { type: 'toolExecutionStart', ...event })
  try {
    if (read?.error !== undefined) throw read.error
    const value = validated ? validated.value : await validatedArguments(tool, read?.args ?? {})
    // An observer of the start may have aborted the call. No `await` may stand between this check and the handler.
    if (context.isAborted !== false) context.signal?.throwIfAborted()
    const output = await handled(tool, value, handlerContext(context, callId))
    end()
    return output
  } catch (error) {
    end(isBobbinError(error) ? error.code : 'E_TOOL_DOWNSTREAM_ERROR')
    throw error
  }
}

async function handled(
  tool: Executable,
  value: unknown,
  context: ToolContext,
): Promise<ToolOutput> {
  try {
    return await tool.handler(value, context)
  } catch (cause) {
    throw wrapped(tool, cause)
  }
}

/** Invalid arguments get a checksum too, so that different invalid calls stay different. */
function readArguments(raw: unknown): { args: JsonObject; error?: BobbinError } {
  try {
    return { args: normalizeArguments(raw) }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    return { args: unparsedArguments(raw), error }
  }
}

async function validatedArguments(tool: Executable, args: JsonObject): Promise<unknown> {
  const result = await validation(tool, args)
  if (result.ok) return result.value
  const message = `The arguments of \`${tool.name}\` do not fit its input schema: ${issuesText(result.issues)}. Correct them and call again.`
  throw new BobbinError('E_ARGUMENTS_REJECTED', message, {
    tool: tool.name,
    issues: result.issues,
  })
}

async function validation(tool: Executable, args: JsonObject): Promise<Validation> {
  try {
    return await tool.validate(args)
  } catch (cause) {
    throw wrapped(tool, cause)
  }
}

/** Handlers and schemas are code of the application, and may throw anything. */
function wrapped(tool: Executable, cause: unknown): BobbinError {
  const message = `The tool \`${tool.name}\` failed: ${thrownText(cause)}`
  return new BobbinError('E_TOOL_DOWNSTREAM_ERROR', message, { tool: tool.name }, { cause })
}

/** If the clock throws, the system's time is used: the call keeps its events and its result. */
function timeOf(context: ExecutionContext): number {
  try {
    // Called as a method: the context may be an object with state.
    return context.now?.() ?? Date.now()
  } catch {
    return Date.now()
  }
}

/** Observers never change a call, even if they throw or reject. */
function emitSafely(
  context: ExecutionContext,
  event: ToolExecutionStartEvent | ToolExecutionEndEvent,
): void {
  // The event bus reports observers that fail.
  try {
    const result: unknown = context.emit?.(event)
    if (isThenable(result)) result.then(undefined, () => undefined)
  } catch {}
}
