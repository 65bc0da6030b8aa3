import * as v from 'valibot'
import { brief } from '../core/error/cut-text.ts'
import { BobbinError } from '../core/error/error.ts'
import { jsonObjectField, trustField } from '../core/fields.ts'
import type { JsonObject, PlainObject } from '../core/json/json.ts'
import { nearest } from '../core/options.ts'
import type { TrustTier } from '../core/trust.ts'
import {
  type Artifact,
  isArtifactConstructor,
  type SpooledArtifactConstructor,
} from '../spool/artifact.ts'
import type { Media } from '../spool/media.ts'
import type { InferArguments, InputSchema } from './input-schema.ts'
import type { OutputOf, ReturnedBy, ToolContext, ToolOutput } from './tool-context.ts'

/** The values of `effect`. */
export const EFFECTS = ['read', 'idempotent', 'write'] as const
/** The effect of a call: none (`read`), the same however often it runs (`idempotent`), or a new one each time (`write`). */
export type Effect = (typeof EFFECTS)[number]

/** Whether a call may run a second time: only where its tool declares so. */
export function mayRepeat(effect: Effect | undefined): boolean {
  return effect === 'read' || effect === 'idempotent'
}

/** What happens when two tools of one name meet. */
export const COLLISION_POLICIES = ['throw', 'replace', 'keep'] as const
/** Which of two tools of one name stays, or that neither may. */
export type CollisionPolicy = (typeof COLLISION_POLICIES)[number]

/** A finished result as an `inline` function sees it. */
export type ProducedResult = Artifact | readonly Artifact[] | Media | readonly Media[]

/** The context of policy functions. */
export interface PolicyContext<Context = unknown> {
  /** What the application passed to `run` as `context`; a tool that is executed without a turn has none. */
  readonly context?: Context
  readonly conversation?: string
  readonly turnId?: string
  readonly toolCallId?: string
  /** The call that is to be undone, when it is about an undo: the arguments are those of that call. */
  readonly undoes?: string
}

/** A settled call, as `undo` gets it: a `ToolCall`. */
export interface UndoneCall {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly effectiveArgs?: JsonObject | undefined
  readonly checksum: string
  /** `ok`, or `in-doubt` if it is unknown whether it took effect. */
  readonly settlement: string
  readonly results: unknown
}

/** The answer of `reconcile` about a call in doubt. */
export type Reconciliation<Output = ToolOutput> =
  | { readonly happened: 'yes'; readonly output: Output }
  | { readonly happened: 'no' }
  | { readonly happened: 'unknown' }

/**
 * The options of a tool; `R` is the return type of its handler, `Q` the output that `reconcile` finds, `Context` what the
 * application passes to `run` as `context`.
 */
export interface ToolOptions<
  S extends InputSchema = InputSchema,
  R = ToolOutput | Promise<ToolOutput>,
  Q = ToolOutput,
  Context = unknown,
> {
  /** Letters, digits, `_` and `-`, at most 64: every provider accepts this. */
  readonly name: string
  readonly description: string
  /**
   * A schema of Zod or ArkType, one of Valibot in `toStandardJsonSchema` of `@valibot/to-json-schema`, which is asked
   * once to describe itself, or plain JSON Schema.
   */
  readonly inputSchema: S
  readonly handler: (args: InferArguments<S>, context: ToolContext<Context>) => R & ReturnedBy<R>
  /** Resolves to the class that wraps text output; absent means `SpooledArtifact`. */
  readonly artifactConstructor?: () => SpooledArtifactConstructor
  /** Whether the model gets the result itself (default) or a handle to query it by. */
  readonly inline?: boolean | ((result: ProducedResult, context: PolicyContext<Context>) => boolean)
  /** The trust of the output; `third-party` unless given. */
  readonly trust?: TrustTier
  /** Without it, a call counts as one that must not repeat. */
  readonly effect?: Effect
  /** Whether the call needs approval before the handler runs. */
  readonly approval?:
    | boolean
    | ((args: InferArguments<S>, context: PolicyContext<Context>) => boolean | Promise<boolean>)
  /** Finds out, by idempotency key, whether a call in doubt happened. */
  readonly reconcile?: (key: string) => Promise<Reconciliation<Q & OutputOf<Q>>>
  /** Takes back what a call did. It runs when a person or the application asks for it, never by itself. */
  undo?(call: UndoneCall, context: ToolContext<Context>): ToolOutput | Promise<ToolOutput>
  readonly timeoutMs?: number
  /** Runs alone: no other call of the turn runs meanwhile. */
  readonly exclusive?: boolean
  /** `false` exempts a polling tool from the repeat guard. */
  readonly repeat?: boolean
  /**
   * A browser, a queue or a person executes the call. The runner opens a gate of kind `result` instead of
   * running a handler, and `timeoutMs` is how long that gate waits.
   */
  readonly external?: boolean
  /**
   * The model gets a receipt at once and the turn continues while the handler runs; its result follows in a later request.
   * Only its own `timeoutMs` and the time of the turn end it.
   */
  readonly background?: boolean
  /** Data of the application, kept on the tool. */
  readonly meta?: PlainObject
  /** Lives for one request only, as forged artifact tools do. */
  readonly ephemeral?: boolean
  readonly onCollision?: CollisionPolicy
}

/** The options of an external tool: it has no handler. */
export interface ExternalToolOptions<
  S extends InputSchema = InputSchema,
  Q = ToolOutput,
  Context = unknown,
> extends Omit<ToolOptions<S, ToolOutput, Q, Context>, 'handler' | 'background'> {
  readonly external: true
  readonly handler?: undefined
}

/** Names that other kits use. */
const FOREIGN_NAMES: Readonly<Record<string, keyof ToolOptions>> = {
  execute: 'handler',
  run: 'handler',
  func: 'handler',
  parameters: 'inputSchema',
  schema: 'inputSchema',
  needsApproval: 'approval',
}

/** Refuses unknown options before missing ones are reported, and says which option is meant. */
export function refuseStray(options: unknown): void {
  if (typeof options !== 'object' || options === null) return
  const names = Object.keys(toolOptionsSchema.entries)
  const stray = Object.keys(options).find((name) => !names.includes(name))
  if (stray === undefined) return
  const meant = Object.hasOwn(FOREIGN_NAMES, stray) ? FOREIGN_NAMES[stray] : nearest(stray, names)
  const wayOut = meant === undefined ? 'remove it' : `use \`${meant}\``
  throw invalidTool(stray, `is not an option of a tool: ${wayOut}`)
}

function invalidTool(path: string, rule: string): BobbinError {
  const message = `\`Tool.${path}\` ${rule}.`
  return new BobbinError('E_INVALID_INITIAL_TOOL_VALUE', message, { path, rule })
}

/** Refuses options that contradict each other. */
export function refuseContradictions({
  external,
  background,
  exclusive,
  handler,
}: v.InferOutput<typeof toolOptionsSchema>): void {
  if (background && exclusive) {
    throw invalidTool('background', 'must be absent with `exclusive`: the turn continues meanwhile')
  }
  if (!external) {
    if (handler === undefined) throw invalidTool('handler', HANDLER)
    return
  }
  if (background) {
    throw invalidTool('background', 'must be absent with `external`: no handler runs here')
  }
  if (handler !== undefined) {
    throw invalidTool(
      'handler',
      'must be absent with `external`: the runner does not execute the call',
    )
  }
}

const functionField = (rule: string) =>
  v.custom<(...args: never[]) => unknown>((input) => typeof input === 'function', rule)

const HANDLER = 'must be a function of (args, ctx)'
const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens'
const POSITIVE = 'must be a positive whole number of milliseconds'

const resolverField = v.pipe(
  functionField('must be a function without parameters that returns an artifact class'),
  v.check((resolve) => {
    try {
      return isArtifactConstructor(resolve())
    } catch {
      return false
    }
  }, 'must return SpooledArtifact or a class that extends it; to return media, return Media from the handler'),
)

/** The run-time check of `ToolOptions`, for JavaScript callers. */
export const toolOptionsSchema = v.strictObject({
  name: v.pipe(
    v.string(NAME_RULE),
    // Tools often come from a list: name the one that is wrong.
    v.regex(/^[a-zA-Z0-9_-]{1,64}$/, ({ input }) => `${NAME_RULE}: \`${brief(input, 80)}\` is not`),
  ),
  description: v.string('must be a string that tells the model what the tool does'),
  inputSchema: v.custom<InputSchema>(
    (input) => (typeof input === 'object' && input !== null) || typeof input === 'function',
    'must be a Standard Schema that gives JSON Schema, or plain JSON Schema',
  ),
  handler: v.optional(functionField(HANDLER)),
  artifactConstructor: v.optional(resolverField),
  inline: v.optional(
    v.union([v.boolean(), functionField('')], 'must be a boolean or a function'),
    true,
  ),
  trust: v.optional(trustField, 'third-party'),
  effect: v.optional(v.picklist(EFFECTS, `must be one of ${EFFECTS.join(', ')}`)),
  approval: v.optional(
    v.union([v.boolean(), functionField('')], 'must be a boolean or a function'),
    false,
  ),
  reconcile: v.optional(functionField('must be a function of an idempotency key')),
  undo: v.optional(functionField('must be a function of (call, ctx)')),
  timeoutMs: v.optional(v.pipe(v.number(POSITIVE), v.integer(POSITIVE), v.minValue(1, POSITIVE))),
  exclusive: v.optional(v.boolean('must be a boolean'), false),
  repeat: v.optional(v.boolean('must be a boolean'), true),
  external: v.optional(v.boolean('must be a boolean'), false),
  background: v.optional(v.boolean('must be a boolean'), false),
  meta: v.optional(jsonObjectField, {}),
  ephemeral: v.optional(v.boolean('must be a boolean'), false),
  onCollision: v.optional(
    v.picklist(COLLISION_POLICIES, `must be one of ${COLLISION_POLICIES.join(', ')}`),
    'throw',
  ),
})
