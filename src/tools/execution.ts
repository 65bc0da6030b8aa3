import { checksum } from '../core/checksum.ts'
import { BobbinError, isBobbinError } from '../core/error.ts'
import { randomId } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import { normalizeArguments, unparsedArguments } from '../core/strict-json.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './execution-events.ts'
import type { Validator } from './input-schema.ts'
import type { ExecutionContext, ToolContext, ToolOutput } from './tool-context.ts'

/** What execution needs of a tool. */
export interface Executable {
  readonly name: string
  readonly validate: Validator
  readonly handler: (args: unknown, context: ToolContext) => ToolOutput | Promise<ToolOutput>
}

/**
 * Runs one call: checksum of the raw arguments, start event, validation unless admission did it,
 * handler, end event. Exactly one start and one end per call, whatever happens in between.
 */
export async function execute(
  tool: Executable,
  context: ExecutionContext,
  rawArgs: unknown,
): Promise<ToolOutput> {
  const read = readArguments(rawArgs)
  const call = {
    callId: checksum(tool.name, read.args),
    toolCallId: context.toolCallId,
    tool: tool.name,
  }
  const now = context.now ?? Date.now
  const startedAt = now()
  emitSafely(context, { type: 'toolExecutionStart', ...call, startedAt })
  let code: string | undefined
  try {
    if (read.error !== undefined) throw read.error
    // An observer of the start may have aborted the call.
    context.signal?.throwIfAborted()
    // Nothing may come between the caller's look at its signal and the handler's start.
    const args =
      context.validated === undefined
        ? await validatedArguments(tool, read.args)
        : context.validated.value
    return await orWrapped(tool, () => tool.handler(args, toolContext(context, call.callId)))
  } catch (error) {
    code = isBobbinError(error) ? error.code : 'E_TOOL_DOWNSTREAM_ERROR'
    throw error
  } finally {
    const isError = code !== undefined
    const end = { ...call, startedAt, endedAt: now(), isError, ...(isError && { code }) }
    emitSafely(context, { type: 'toolExecutionEnd', ...end } as ToolExecutionEndEvent)
  }
}

/** Arguments that are not JSON still get a checksum, so that different broken calls stay different. */
function readArguments(raw: unknown): { args: JsonObject; error?: BobbinError } {
  try {
    return { args: normalizeArguments(raw) }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    return { args: unparsedArguments(typeof raw === 'string' ? raw : error.message), error }
  }
}

async function validatedArguments(tool: Executable, args: JsonObject): Promise<unknown> {
  const result = await orWrapped(tool, () => tool.validate(args))
  if (result.ok) return result.value
  const faults = result.issues.map(({ path, rule }) => `\`${path || 'args'}\`: ${rule}`)
  const message = `The arguments of \`${tool.name}\` do not fit its input schema: ${faults.join('; ')}. Correct them and call again.`
  throw new BobbinError('E_ARGUMENTS_REJECTED', message, {
    tool: tool.name,
    issues: result.issues,
  })
}

/** Handlers and the functions inside schemas are the tool's own code, and may throw anything. */
async function orWrapped<T>(tool: Executable, ownCode: () => T | Promise<T>): Promise<T> {
  try {
    return await ownCode()
  } catch (cause) {
    const message = `The tool \`${tool.name}\` failed: ${thrownText(cause)}`
    throw new BobbinError('E_TOOL_DOWNSTREAM_ERROR', message, { tool: tool.name }, { cause })
  }
}

/** Anything can be thrown, also values whose own conversion to text throws. */
export function thrownText(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'it threw a value that cannot be shown as text'
  }
}

/** Observers never change what a call does, nor do those that are async and fail later. */
function emitSafely(
  context: ExecutionContext,
  event: ToolExecutionStartEvent | ToolExecutionEndEvent,
): void {
  // A failing observer is the observer's fault; the bus that carries events reports it.
  new Promise<void>((resolve) => resolve(context.emit?.(event))).catch(() => undefined)
}

function toolContext(context: ExecutionContext, callId: string): ToolContext {
  return {
    signal: context.signal ?? new AbortController().signal,
    toolCallId: context.toolCallId,
    callId,
    idempotencyKey: context.idempotencyKey ?? context.toolCallId ?? randomId(),
    progress: (update) => context.progress?.(update),
    secret: async (name) => (context.secret ?? missing('secret'))(name),
    spool: (async (data, Class) =>
      (context.spool ?? missing('spool'))(data, Class)) as ToolContext['spool'],
  }
}

function missing(capability: string): never {
  const message = `\`ctx.${capability}\` is not available here: run the tool through a TurnRunner, or pass \`${capability}\` to \`tool.executor\`.`
  throw new BobbinError('E_MISSING_CAPABILITY', message, { capability })
}
