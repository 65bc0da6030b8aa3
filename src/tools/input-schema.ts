import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonObject } from '../core/json/json.ts'
import type { FromJsonSchema } from './json-schema-types.ts'

/** A schema library's type that both validates and can describe itself as JSON Schema. */
export interface SelfDescribingSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaV1.Props<Input, Output> &
    StandardJSONSchemaV1.Props<Input, Output>
}

/** JSON Schema as plain data, the form that MCP and OpenAPI bring along. */
export interface PlainJsonSchema {
  readonly type: 'object'
  readonly '~standard'?: never
  readonly [keyword: string]: unknown
}

/** The input schemas that `Tool` accepts. */
export type InputSchema = SelfDescribingSchema | PlainJsonSchema

/** The arguments of a handler: the schema's output after defaults and coercions. */
export type InferArguments<S extends InputSchema> =
  S extends SelfDescribingSchema<infer _, infer Output> ? Output : FromJsonSchema<S>

/** One error in the arguments. */
export interface ArgumentIssue {
  readonly path: string
  readonly rule: string
}

/** The errors in the arguments, in one line. */
export function issuesText(issues: readonly ArgumentIssue[]): string {
  return issues.map(({ path, rule }) => `\`${path || 'args'}\`: ${rule}`).join('; ')
}

/** The result of validation: the value for the handler, or the errors for the model. */
export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly ArgumentIssue[] }

/** Validates arguments, once per call: a transform never runs twice. */
export type Validator = (args: JsonObject) => Promise<Validation>

/** True for a Standard Schema that both validates and gives JSON Schema. */
export function isSelfDescribing(schema: unknown): schema is SelfDescribingSchema {
  const standard = standardPart(schema)
  return typeof standard?.['validate'] === 'function' && standard['jsonSchema'] !== undefined
}

/** The `~standard` part of a schema object or function, if it has one. */
export function standardPart(schema: unknown): Record<string, unknown> | undefined {
  const holder = typeof schema === 'object' || typeof schema === 'function' ? schema : null
  const standard: unknown = holder === null ? undefined : Reflect.get(holder, '~standard')
  return typeof standard === 'object' && standard !== null
    ? (standard as Record<string, unknown>)
    : undefined
}
