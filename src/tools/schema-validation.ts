import { BobbinError } from '../core/error.ts'
import type { JsonObject, JsonValue } from '../core/json.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import {
  type ArgumentIssue,
  type InputSchema,
  isSelfDescribing,
  standardPart,
  type Validator,
} from './input-schema.ts'

/** A schema's two faces: the JSON Schema that a model is shown, and the check that runs. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  readonly validate: Validator
}

const MAX_ISSUES = 8

/** Turns whatever schema the author chose into JSON Schema and a validator, or says what is missing. */
export function compileSchema(schema: InputSchema): CompiledSchema {
  if (isSelfDescribing(schema)) {
    const described = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
    return { jsonSchema: objectSchema(described), validate: standardValidator(schema) }
  }
  const standard = standardPart(schema)
  if (standard !== undefined) throw cannotDescribe(String(standard['vendor']))
  const jsonSchema = objectSchema(schema)
  return { jsonSchema, validate: jsonSchemaValidator(jsonSchema) }
}

function objectSchema(schema: unknown): JsonObject {
  const json = normalizeArguments(schema)
  if (json['type'] === 'object') return json
  const rule = 'must describe an object: tools take named arguments'
  throw invalidSchema(rule, `\`Tool.inputSchema\` ${rule}. Wrap it, for example as { input: … }.`)
}

function cannotDescribe(vendor: string): BobbinError {
  const rule = 'must be able to give JSON Schema'
  const wayOut =
    vendor === 'valibot'
      ? 'Wrap it with `toStandardJsonSchema` from `@valibot/to-json-schema`.'
      : 'Use a version that offers `~standard.jsonSchema`, or pass plain JSON Schema.'
  return invalidSchema(rule, `\`Tool.inputSchema\` (${vendor}) ${rule}. ${wayOut}`)
}

const invalidSchema = (rule: string, message: string) =>
  new BobbinError('E_INVALID_INITIAL_TOOL_VALUE', message, { path: 'inputSchema', rule })

function standardValidator(schema: Extract<InputSchema, { '~standard': object }>): Validator {
  return async (args) => {
    const result = await schema['~standard'].validate(args)
    if (result.issues === undefined) return { ok: true, value: result.value }
    const issues = result.issues.slice(0, MAX_ISSUES).map(
      (issue): ArgumentIssue => ({
        path: (issue.path ?? []).map(keyOf).join('.'),
        rule: issue.message,
      }),
    )
    return { ok: false, issues }
  }
}

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === 'object' ? segment.key : segment)

function jsonSchemaValidator(jsonSchema: JsonObject): Validator {
  let compiled: Promise<(args: JsonValue) => readonly ArgumentIssue[]> | undefined
  return async (args) => {
    compiled ??= compileJsonSchema(jsonSchema)
    const issues = (await compiled)(args)
    return issues.length === 0 ? { ok: true, value: args } : { ok: false, issues }
  }
}

/** Loaded on first use: most programs describe their tools with a schema library of their own. */
async function compileJsonSchema(jsonSchema: JsonObject) {
  const { Validator: JsonSchemaValidator } = await import('@cfworker/json-schema')
  const validator = new JsonSchemaValidator(structuredClone(jsonSchema), '2020-12', false)
  return (args: JsonValue): readonly ArgumentIssue[] => {
    const { valid, errors } = validator.validate(args)
    if (valid) return []
    // Parents repeat what their children report; the innermost errors say what to change.
    const deepest = errors.filter(
      (error) => !errors.some((other) => isBelow(other.instanceLocation, error.instanceLocation)),
    )
    return deepest.slice(0, MAX_ISSUES).map((error) => ({
      path: error.instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.'),
      rule: error.error,
    }))
  }
}

const isBelow = (inner: string, outer: string) =>
  inner.length > outer.length && inner.startsWith(`${outer}/`)
