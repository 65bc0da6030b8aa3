import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { ArgumentIssue } from '../../tools/input-schema.ts'

interface Described {
  readonly description: string
  /** Leave it out and the query gets `undefined`; a default makes it optional too. */
  readonly optional?: true
}

/** One parameter of a query: JSON Schema keywords, of which numbers are clamped and never refused. */
export type Parameter =
  | (Described & {
      readonly type: 'integer'
      readonly minimum: number
      readonly maximum: number
      readonly default?: number
    })
  | (Described & {
      readonly type: 'string'
      readonly enum?: readonly string[]
      readonly maxLength?: number
      readonly default?: string
    })
  | (Described & { readonly type: 'boolean'; readonly default?: boolean })
  | (Described & { readonly type: 'strings'; readonly maxItems: number })
  | (Described & { readonly type: 'scalar' })

/** The parameters of a query by name. */
export type Parameters = Readonly<Record<string, Parameter>>

type ValueOf<P extends Parameter> = P extends { readonly type: 'integer' }
  ? number
  : P extends { readonly type: 'boolean' }
    ? boolean
    : P extends { readonly type: 'strings' }
      ? readonly string[]
      : P extends { readonly type: 'scalar' }
        ? string | number | boolean | null
        : P extends { readonly enum: readonly (infer E)[] }
          ? E
          : string

/** What a query is given, with defaults filled in and numbers in their bounds. */
export type QueryArguments<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends { readonly optional: true }
    ? ValueOf<P[K]> | undefined
    : ValueOf<P[K]>
}

/** What surrounds one run of a query. */
export interface QueryContext {
  /** Aborts when the answer takes too long or the turn ends; a later answer is ignored. */
  readonly signal: AbortSignal
}

/** An answer, what it leaves out, and the cursor for the next part. */
export interface QueryAnswer {
  readonly text: string
  readonly leftOut?: string
  readonly cursor?: string
}

/** A question that a model can ask of an artifact, declared once as data on the artifact's class. */
export interface Query<A = unknown, P extends Parameters = Parameters> {
  /** The forged tool is called `artifact_<name>`. */
  readonly name: string
  readonly description: string
  readonly parameters: P
  run(
    artifact: A,
    args: QueryArguments<P>,
    context: QueryContext,
  ): Promise<QueryAnswer | string> | QueryAnswer | string
}

/** Types a query by its own parameters. */
export function query<A, const P extends Parameters>(declared: Query<A, P>): Query<A, P> {
  return declared
}

/** The cursor parameter of every query whose answers have several parts. */
export const CURSOR = {
  type: 'string',
  description: 'The cursor of an earlier answer, to continue where it ended',
  maxLength: 300,
  optional: true,
} as const

/** A class with queries; each class lists its own, and inherits those of the class it extends. */
interface QueryClass {
  readonly queries?: readonly Query[]
}

/** The queries of a class by name: base first, a subclass's own in place of one of the same name. */
export function queriesOf(Class: unknown): ReadonlyMap<string, Query> {
  const byName = new Map<string, Query>()
  const chain: QueryClass[] = []
  for (let at = Class; typeof at === 'function'; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, 'queries')) chain.unshift(at as QueryClass)
  }
  for (const { queries } of chain) for (const each of queries ?? []) byName.set(each.name, each)
  return byName
}

/** The parameters as JSON Schema properties, and which of them must be given. */
export function describeParameters(parameters: Parameters): {
  properties: JsonObject
  required: readonly string[]
} {
  const properties: Record<string, JsonValue> = {}
  const required: string[] = []
  for (const [name, parameter] of Object.entries(parameters)) {
    properties[name] = schemaOf(parameter)
    if (!isOptional(parameter)) required.push(name)
  }
  return { properties, required }
}

function schemaOf(parameter: Parameter): JsonObject {
  const keywords: Record<string, JsonValue> = { ...parameter }
  delete keywords['optional']
  if (parameter.type === 'strings') return { ...keywords, type: 'array', items: { type: 'string' } }
  if (parameter.type !== 'scalar') return keywords
  return { ...keywords, type: ['string', 'number', 'boolean', 'null'] }
}

const isOptional = (parameter: Parameter) =>
  parameter.optional === true || ('default' in parameter && parameter.default !== undefined)

/** Reads arguments by their declaration: fills defaults in, clamps numbers, reports what is unusable. */
export function readParameters(
  parameters: Parameters,
  raw: Readonly<Record<string, unknown>>,
): { args: Record<string, unknown>; issues: ArgumentIssue[] } {
  const args: Record<string, unknown> = {}
  const issues: ArgumentIssue[] = []
  for (const [name, parameter] of Object.entries(parameters)) {
    const given = Object.hasOwn(raw, name) ? raw[name] : undefined
    // Models send null and empty cursors for what they mean to leave out.
    const absent = given === undefined || (given === null && parameter.type !== 'scalar')
    if (absent) {
      if ('default' in parameter && parameter.default !== undefined) args[name] = parameter.default
      else if (parameter.optional !== true) issues.push({ path: name, rule: 'is required' })
      continue
    }
    const value = READERS[parameter.type](given, parameter as never)
    if (value === undefined) issues.push({ path: name, rule: `must be ${expected(parameter)}` })
    else args[name] = value
  }
  return { args, issues }
}

const MAX_STRING = 10_000

type Reader<T extends Parameter['type']> = (
  given: unknown,
  parameter: Extract<Parameter, { type: T }>,
) => unknown

const READERS: { [T in Parameter['type']]: Reader<T> } = {
  integer(given, { minimum, maximum }) {
    const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
    if (typeof number !== 'number' || Number.isNaN(number)) return undefined
    return Math.min(Math.max(Math.trunc(number), minimum), maximum)
  },
  string(given, { enum: allowed, maxLength = MAX_STRING }) {
    if (typeof given !== 'string' || given.length > maxLength) return undefined
    return allowed === undefined || allowed.includes(given) ? given : undefined
  },
  boolean(given) {
    if (given === 'true' || given === 'false') return given === 'true'
    return typeof given === 'boolean' ? given : undefined
  },
  strings(given, { maxItems }) {
    const list: unknown[] = Array.isArray(given) ? given : [given]
    const fits = list.length <= maxItems && list.every((item) => typeof item === 'string')
    return fits ? list : undefined
  },
  scalar: (given) => (given === null || typeof given !== 'object' ? given : undefined),
}

function expected(parameter: Parameter): string {
  if (parameter.type === 'integer') {
    return `a whole number from ${parameter.minimum} to ${parameter.maximum}`
  }
  if (parameter.type === 'strings') return `an array of at most ${parameter.maxItems} strings`
  if (parameter.type === 'boolean') return 'true or false'
  if (parameter.type === 'scalar') return 'a string, a number, true, false or null'
  if (parameter.enum !== undefined) return `one of ${parameter.enum.join(', ')}`
  return `a string of at most ${parameter.maxLength ?? MAX_STRING} characters`
}
