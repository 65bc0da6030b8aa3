import { checksum } from '../core/checksum.ts'
import { BobbinError, isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import { isThenable } from '../core/thenable.ts'
import { thrownText } from '../core/thrown-text.ts'
import { unparsedArguments } from '../core/unparsed-arguments.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './execution-events.ts'
import { HandlerContext } from './handler-context.ts'
import { issuesText, type Validation, type Validator } from './input-schema.ts'
import type { ExecutionContext, ToolContext, ToolOutput } from './tool-context.ts'

/** What execution needs of a tool. */
export interface Executable {
  readonly name: string
  readonly validate: Validator
  readonly handler: (args: unknown, context: ToolContext) => ToolOutput | Promise<ToolOutput>
}

/**
 * Runs one call: checksum of the raw arguments, start event, validation unless admission did it,
 * handler, end event. Exactly one start and one end per call, whatever happens in between. What has not
 * to be waited for is there at once, and what fails at once is thrown.
 */
export function execute(
  tool: Executable,
  context: ExecutionContext,
  rawArgs: unknown,
): ToolOutput | Promise<ToolOutput> {
  const run = new Execution(tool, context, rawArgs)
  run.start()
  let output: ToolOutput | Promise<ToolOutput>
  try {
    output = run.output()
  } catch (error) {
    throw run.failed(error)
  }
  if (output instanceof Promise) return ended(run, output)
  run.end()
  return output
}

async function ended(run: Execution, pending: Promise<ToolOutput>): Promise<ToolOutput> {
  let output: ToolOutput
  try {
    output = await pending
  } catch (error) {
    throw run.failed(error)
  }
  run.end()
  return output
}

/** One run of a tool, between its two events. */
class Execution {
  readonly #tool: Executable
  readonly #context: ExecutionContext
  readonly #args: JsonObject | undefined
  readonly #callId: string
  readonly #fault: BobbinError | undefined
  #startedAt = 0

  constructor(tool: Executable, context: ExecutionContext, rawArgs: unknown) {
    this.#tool = tool
    this.#context = context
    const known = context.validated?.checksum
    if (known === undefined) {
      const { args, error } = readArguments(rawArgs)
      this.#args = args
      this.#fault = error
      this.#callId = checksum(tool.name, args)
    } else {
      this.#callId = known
    }
  }

  start(): void {
    const context = this.#context
    this.#startedAt = timeOf(context)
    if (context.emit === undefined || context.listens?.('toolExecutionStart') === false) return
    emitSafely(context, {
      type: 'toolExecutionStart',
      callId: this.#callId,
      toolCallId: context.toolCallId,
      tool: this.#tool.name,
      startedAt: this.#startedAt,
    })
  }

  /** What the handler gives, if it may start at all. */
  output(): ToolOutput | Promise<ToolOutput> {
    const context = this.#context
    if (this.#fault !== undefined) throw this.#fault
    // An observer of the start may have aborted the call.
    if (context.isAborted?.() ?? true) context.signal?.throwIfAborted()
    // Nothing may come between the caller's look at its signal and the handler's start.
    if (context.validated !== undefined) return this.#handle(context.validated.value)
    return this.#validateAndHandle(this.#args ?? {})
  }

  async #validateAndHandle(args: JsonObject): Promise<ToolOutput> {
    return this.#handle(await validatedArguments(this.#tool, args))
  }

  #handle(args: unknown): ToolOutput | Promise<ToolOutput> {
    const tool = this.#tool
    try {
      const output = tool.handler(args, new HandlerContext(this.#context, this.#callId))
      return isThenable(output) ? orWrapped(tool, output) : output
    } catch (cause) {
      throw wrapped(tool, cause)
    }
  }

  end(code?: string): void {
    const context = this.#context
    if (context.emit === undefined || context.listens?.('toolExecutionEnd') === false) return
    const isError = code !== undefined
    const end: ToolExecutionEndEvent = {
      type: 'toolExecutionEnd',
      callId: this.#callId,
      toolCallId: context.toolCallId,
      tool: this.#tool.name,
      startedAt: this.#startedAt,
      endedAt: timeOf(context),
      isError,
      ...(isError && { code }),
    }
    emitSafely(context, end)
  }

  /** Ends with what was thrown, and gives it back. */
  failed(error: unknown): unknown {
    this.end(isBobbinError(error) ? error.code : 'E_TOOL_DOWNSTREAM_ERROR')
    return error
  }
}

/** Arguments that are not JSON still get a checksum, so that different broken calls stay different. */
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

async function orWrapped<T>(tool: Executable, pending: T | PromiseLike<T>): Promise<T> {
  try {
    return await pending
  } catch (cause) {
    throw wrapped(tool, cause)
  }
}

/** Handlers and the functions inside schemas are the tool's own code, and may throw anything. */
function wrapped(tool: Executable, cause: unknown): BobbinError {
  const message = `The tool \`${tool.name}\` failed: ${thrownText(cause)}`
  return new BobbinError('E_TOOL_DOWNSTREAM_ERROR', message, { tool: tool.name }, { cause })
}

/** A clock that fails costs a call neither its events nor its result: the system's stands in for it. */
function timeOf(context: ExecutionContext): number {
  try {
    // Called on its context, which may be an object with state of its own.
    return context.now?.() ?? Date.now()
  } catch {
    return Date.now()
  }
}

/** Observers never change what a call does, nor do those that are async and fail later. */
function emitSafely(
  context: ExecutionContext,
  event: ToolExecutionStartEvent | ToolExecutionEndEvent,
): void {
  // A failing observer is the observer's fault; the bus that carries events reports it.
  try {
    const result: unknown = context.emit?.(event)
    if (isThenable(result)) result.then(undefined, () => undefined)
  } catch {}
}
