import { brandOf, isInstanceOf } from '../core/error/brand.ts'
import { brief } from '../core/error/cut-text.ts'
import { thrownText } from '../core/error/thrown-text.ts'
import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonObject } from '../core/json/json.ts'
import { parseOrThrow } from '../core/record.ts'
import type { TrustTier } from '../core/trust.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import { type Executable, execute } from './execution.ts'
import type { InputSchema, Validation } from './input-schema.ts'
import { compileSchema } from './schema-validation.ts'
import type { ExecutionContext, ToolContext, ToolOutput } from './tool-context.ts'
import {
  type CollisionPolicy,
  type Effect,
  type ExternalToolOptions,
  type PolicyContext,
  type ProducedResult,
  type Reconciliation,
  refuseContradictions,
  refuseStray,
  type ToolOptions,
  toolOptionsSchema,
  type UndoneCall,
} from './tool-options.ts'

type Approval<Context> =
  | boolean
  | ((args: unknown, context: PolicyContext<Context>) => boolean | Promise<boolean>)

type Undo<Context> = (
  call: UndoneCall,
  context: ToolContext<Context>,
) => ToolOutput | Promise<ToolOutput>

/** Marks the options of the tool that undoes the calls of another. No model sees such a tool, and its name cannot be given. */
export const UNDO_OF = Symbol('undo of')

interface InternalOptions {
  readonly [UNDO_OF]?: true
}

/** Something a model can call: a name, a description, a schema, and a handler that only `executor` reaches. */
export class Tool<S extends InputSchema = InputSchema, Context = unknown> {
  readonly name: string
  readonly description: string
  readonly inputSchema: S
  /** The input schema as JSON Schema 2020-12, for the model. */
  readonly jsonSchema: JsonObject
  readonly artifactConstructor: (() => SpooledArtifactConstructor) | undefined
  readonly inline: boolean | ((result: ProducedResult, context: PolicyContext<Context>) => boolean)
  readonly trust: TrustTier
  readonly effect: Effect | undefined
  readonly reconcile: ((key: string) => Promise<Reconciliation>) | undefined
  readonly undo: Undo<Context> | undefined
  readonly timeoutMs: number | undefined
  readonly exclusive: boolean
  readonly repeat: boolean
  readonly external: boolean
  readonly background: boolean
  readonly meta: JsonObject
  readonly ephemeral: boolean
  readonly onCollision: CollisionPolicy
  readonly #executable: Executable
  readonly #approval: Approval<Context>

  constructor(
    options:
      | ToolOptions<S, ToolOutput | Promise<ToolOutput>, ToolOutput, Context>
      | ExternalToolOptions<S, ToolOutput, Context>,
  ) {
    refuseStray(options)
    const parsed = parseOrThrow('Tool', CODE, toolOptionsSchema, options as ToolOptions)
    refuseContradictions(parsed)
    // The type of the options is more precise than the schema's "function".
    const given = parsed as unknown as typeof options
    const { jsonSchema, validate } = compileSchema(parsed.inputSchema)
    this.name = (options as InternalOptions)[UNDO_OF] ? `undo:${parsed.name}` : parsed.name
    this.description = parsed.description
    this.inputSchema = given.inputSchema
    this.jsonSchema = jsonSchema
    this.artifactConstructor = given.artifactConstructor
    this.inline = given.inline ?? true
    this.trust = parsed.trust
    this.effect = parsed.effect
    this.reconcile = given.reconcile
    this.undo = given.undo
    this.timeoutMs = parsed.timeoutMs
    this.exclusive = parsed.exclusive
    this.repeat = parsed.repeat
    this.external = parsed.external
    this.background = parsed.background
    this.meta = parsed.meta
    this.ephemeral = parsed.ephemeral
    this.onCollision = parsed.onCollision
    this.#executable = {
      name: this.name,
      validate,
      handler: (given.handler ?? notHere) as Executable['handler'],
    }
    this.#approval = (given.approval ?? false) as Approval<Context>
    Object.freeze(this)
  }

  static isTool(value: unknown): value is Tool {
    return isInstanceOf(value, 'Tool')
  }

  /** The only way to the handler: give it a context, then the arguments as the model supplied them. */
  executor(context: ExecutionContext = {}): (args: unknown) => Promise<ToolOutput> {
    requireOptions('tool.executor', context)
    // A call that an executor runs by itself has no gate, no intent and no record.
    if ('toolCallCount' in context) throw wrongInput('tool.executor', 'context', DISPATCH_CONTEXT)
    return async (args) => execute(this.#executable, context, args)
  }

  /** Checks arguments against the input schema. A schema that throws refuses them. */
  async validate(args: JsonObject): Promise<Validation> {
    try {
      return await this.#executable.validate(args)
    } catch (error) {
      const rule = `could not be checked: ${brief(thrownText(error), 200)}`
      return { ok: false, issues: [{ path: '', rule }] }
    }
  }

  /** Whether this call needs approval before it runs. */
  async needsApproval(args: unknown, context: PolicyContext<Context> = {}): Promise<boolean> {
    return typeof this.#approval === 'function' ? this.#approval(args, context) : this.#approval
  }

  [brandOf('Tool')](): boolean {
    return #executable in this
  }
}

/** The handler of an external tool that is executed without a runner. */
function notHere(): never {
  throw new Error('it is external: run it through a TurnRunner, which opens a gate for its result.')
}

const CODE = 'E_INVALID_INITIAL_TOOL_VALUE'
const DISPATCH_CONTEXT =
  'is the context of a dispatch, in which only the runner runs tools: return `{ calls: [{ tool, args }] }` from the executor'
