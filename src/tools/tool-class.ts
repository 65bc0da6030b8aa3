import { brandOf, isInstanceOf } from '../core/brand.ts'
import { brief } from '../core/cut-text.ts'
import type { JsonObject } from '../core/json.ts'
import { parseOrThrow } from '../core/record.ts'
import { thrownText } from '../core/thrown-text.ts'
import type { TrustTier } from '../core/trust.ts'
import { requireOptions } from '../core/wrong-input.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import { type Executable, execute } from './execution.ts'
import type { InputSchema, Validation, Validator } from './input-schema.ts'
import { compileSchema } from './schema-validation.ts'
import type { ExecutionContext, ToolOutput } from './tool-context.ts'
import {
  type CollisionPolicy,
  type Effect,
  type PolicyContext,
  type ProducedResult,
  type Reconciliation,
  type ToolOptions,
  toolOptionsSchema,
} from './tool-options.ts'

type Approval = boolean | ((args: unknown, context: PolicyContext) => boolean | Promise<boolean>)

interface Shortcuts {
  run(tool: Tool, context: ExecutionContext, args: unknown): ToolOutput | Promise<ToolOutput>
  validate(tool: Tool, args: JsonObject): Validation | Promise<Validation>
  needsApproval(tool: Tool, args: unknown, context: PolicyContext): boolean | Promise<boolean>
}

let shortcuts: Shortcuts

/** Something a model can call: a name, a description, a schema, and a handler that only `executor` reaches. */
export class Tool<S extends InputSchema = InputSchema> {
  readonly name: string
  readonly description: string
  readonly inputSchema: S
  /** The input schema as JSON Schema 2020-12, as a model is shown it. */
  readonly jsonSchema: JsonObject
  readonly artifactConstructor: (() => SpooledArtifactConstructor) | undefined
  readonly inline: boolean | ((result: ProducedResult, context: PolicyContext) => boolean)
  readonly trust: TrustTier
  readonly effect: Effect | undefined
  readonly reconcile: ((key: string) => Promise<Reconciliation>) | undefined
  readonly timeoutMs: number | undefined
  readonly exclusive: boolean
  readonly repeat: boolean
  readonly meta: JsonObject
  readonly ephemeral: boolean
  readonly onCollision: CollisionPolicy
  readonly #executable: Executable
  readonly #approval: Approval

  constructor(options: ToolOptions<S>) {
    const parsed = parseOrThrow('Tool', CODE, toolOptionsSchema, options as ToolOptions)
    // What the schema calls a function, the type of the options knows better.
    const given = parsed as unknown as ToolOptions<S>
    const { jsonSchema, validate } = compileSchema(parsed.inputSchema)
    this.name = parsed.name
    this.description = parsed.description
    this.inputSchema = given.inputSchema
    this.jsonSchema = jsonSchema
    this.artifactConstructor = given.artifactConstructor
    this.inline = given.inline ?? true
    this.trust = parsed.trust
    this.effect = parsed.effect
    this.reconcile = given.reconcile
    this.timeoutMs = parsed.timeoutMs
    this.exclusive = parsed.exclusive
    this.repeat = parsed.repeat
    this.meta = parsed.meta
    this.ephemeral = parsed.ephemeral
    this.onCollision = parsed.onCollision
    this.#executable = {
      name: this.name,
      validate,
      handler: given.handler as Executable['handler'],
    }
    this.#approval = (given.approval ?? false) as Approval
    Object.freeze(this)
  }

  static isTool(value: unknown): value is Tool {
    return isInstanceOf(value, 'Tool')
  }

  /** The only way to the handler: give it a context, then the arguments as the model supplied them. */
  executor(context: ExecutionContext = {}): (args: unknown) => Promise<ToolOutput> {
    requireOptions('tool.executor', context)
    return async (args) => execute(this.#executable, context, args)
  }

  /** Checks arguments against the input schema once, for admission; a schema that throws refuses. */
  async validate(args: JsonObject): Promise<Validation> {
    return this.#validate(args)
  }

  #validate(args: JsonObject): Validation | Promise<Validation> {
    return checked(this.#executable, args)
  }

  /** Whether somebody must agree before this call runs. */
  async needsApproval(args: unknown, context: PolicyContext = {}): Promise<boolean> {
    return typeof this.#approval === 'function' ? this.#approval(args, context) : this.#approval
  }

  [brandOf('Tool')](): boolean {
    return #executable in this
  }

  static {
    // A tool of another installed copy, or a class with a way of its own, is asked as everybody asks.
    shortcuts = {
      run: (tool, context, args) =>
        #executable in tool && tool.executor === Tool.prototype.executor
          ? execute(tool.#executable, context, args)
          : tool.executor(plainContext(context))(args),
      validate: (tool, args) =>
        #executable in tool && tool.validate === Tool.prototype.validate
          ? tool.#validate(args)
          : checked(tool, args),
      needsApproval: (tool, args, context) =>
        #executable in tool &&
        typeof tool.#approval === 'boolean' &&
        tool.needsApproval === Tool.prototype.needsApproval
          ? tool.#approval
          : tool.needsApproval(args, context),
    }
  }
}

/** A context whose parts may be taken out of it and copied. */
function plainContext(context: ExecutionContext): ExecutionContext {
  const { signal, toolCallId, idempotencyKey, validated, secret } = context
  return {
    ...(signal && { signal }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(validated && { validated }),
    ...(secret && { secret: (name) => secret.call(context, name) }),
    emit: (event) => context.emit?.(event),
    progress: (update) => context.progress?.(update),
    ...(context.spool && { spool: context.spool.bind(context) }),
    now: () => context.now?.() ?? Date.now(),
  }
}

/** A schema may hold code of its own; arguments that it throws on do not fit. */
function checked(
  tool: { readonly validate: Validator },
  args: JsonObject,
): Validation | Promise<Validation> {
  try {
    const result = tool.validate(args)
    return result instanceof Promise ? result.catch(uncheckable) : result
  } catch (error) {
    return uncheckable(error)
  }
}

function uncheckable(error: unknown): Validation {
  const rule = `could not be checked: ${brief(thrownText(error), 200)}`
  return { ok: false, issues: [{ path: '', rule }] }
}

/** What the methods of a tool do, without a promise where nothing has to be waited for. */
export function toolShortcuts(): Shortcuts {
  return shortcuts
}

const CODE = 'E_INVALID_INITIAL_TOOL_VALUE'
