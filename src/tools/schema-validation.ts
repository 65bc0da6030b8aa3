import type { StandardSchemaV1 } from '@standard-schema/spec'
import { brief } from '../core/error/cut-text.ts'
import { BobbinError, isBobbinError } from '../core/error/error.ts'
import { thrownText } from '../core/error/thrown-text.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { PathCode } from '../core/json/json-error.ts'
import { ARGUMENT_LIMITS, normalizeArguments } from '../core/json/strict-json.ts'
import {
  type ArgumentIssue,
  type InputSchema,
  isSelfDescribing,
  type SelfDescribingSchema,
  standardPart,
  type Validation,
  type Validator,
} from './input-schema.ts'

/** A compiled schema: JSON Schema for the model, and the validator. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  readonly validate: Validator
}

/** How errors name the schema. */
export interface SchemaSubject {
  readonly name: string
  readonly path: string
  readonly code: PathCode
}

const INPUT: SchemaSubject = {
  name: 'Tool.inputSchema',
  path: 'inputSchema',
  code: 'E_INVALID_INITIAL_TOOL_VALUE',
}

const MAX_ISSUES = 8
const MAX_CHARS = 200

/** Compiles a schema of any supported kind; throws if it cannot be used. */
export function compileSchema(schema: InputSchema, subject = INPUT): CompiledSchema {
  try {
    return compile(schema, subject)
  } catch (cause) {
    if (isBobbinError(cause, subject.code)) throw cause
    const rule = 'must be a schema: looking at it throws an error'
    throw invalidSchema(subject, rule, `\`${subject.name}\` ${rule}.`, cause)
  }
}

function compile(schema: InputSchema, subject: SchemaSubject): CompiledSchema {
  if (isSelfDescribing(schema)) {
    const known = described.get(schema)
    if (known !== undefined) return known
    const jsonSchema = objectSchema(subject, () => describe(schema))
    const compiled = Object.freeze({ jsonSchema, validate: standardValidator(schema) })
    described.set(schema, compiled)
    return compiled
  }
  const standard = standardPart(schema)
  if (standard !== undefined) throw cannotDescribe(subject, String(standard['vendor']))
  if (Object.values(schema).some(standardPart)) throw bareFields(subject)
  const jsonSchema = objectSchema(subject, () => schema)
  return { jsonSchema, validate: jsonSchemaValidator(jsonSchema) }
}

/**
 * Programs make the same tools for every request, and describing a schema costs more than running the tool. The schemas of
 * libraries never change, so they are compiled once. Plain JSON Schema may change.
 */
const described = new WeakMap<SelfDescribingSchema, CompiledSchema>()

function describe(schema: SelfDescribingSchema): unknown {
  return schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
}

function objectSchema(subject: SchemaSubject, give: () => unknown): JsonObject {
  const { name: root, code } = subject
  let json: JsonObject
  try {
    json = normalizeArguments(give(), ARGUMENT_LIMITS, { root, code })
  } catch (cause) {
    const rule = 'must be or give JSON Schema'
    const why = thrownText(cause).replace(/\.$/, '')
    const wayOut = 'Use types that JSON has, a string for a date for instance.'
    throw invalidSchema(subject, rule, `\`${root}\` ${rule}: ${why}. ${wayOut}`, cause)
  }
  if (json['type'] === 'object') return json
  if (json['type'] === undefined) throw notSchema(subject, Object.keys(json)[0])
  const rule = 'must describe an object, whose members have names'
  throw invalidSchema(subject, rule, `\`${root}\` ${rule}. Wrap it, for example as { value: … }.`)
}

/** Most often the fields of an object, without the schema around them: `{ city: 'string' }`. */
function notSchema(subject: SchemaSubject, field = 'city'): BobbinError {
  const rule = "must be JSON Schema with `type: 'object'`"
  const wayOut = `Write \`{ type: 'object', properties: { ${brief(field, 40)}: { type: 'string' } } }\`, or use a schema library, as in \`z.object({ … })\`.`
  return invalidSchema(subject, rule, `\`${subject.name}\` ${rule}. ${wayOut}`)
}

/** Some kits accept the fields of an object without the object around them. */
function bareFields(subject: SchemaSubject): BobbinError {
  const rule = 'must be a schema, and this is an object whose members are schemas'
  const message = `\`${subject.name}\` ${rule}. Wrap it, as in \`z.object({ … })\`.`
  return invalidSchema(subject, rule, message)
}

function cannotDescribe(subject: SchemaSubject, vendor: string): BobbinError {
  const rule = 'must be able to give JSON Schema'
  const wayOut =
    vendor === 'valibot'
      ? 'Wrap it with `toStandardJsonSchema` from `@valibot/to-json-schema`.'
      : 'Use a version that offers `~standard.jsonSchema`, or pass plain JSON Schema.'
  return invalidSchema(subject, rule, `\`${subject.name}\` (${vendor}) ${rule}. ${wayOut}`)
}

const invalidSchema = (
  { path, code }: SchemaSubject,
  rule: string,
  message: string,
  cause?: unknown,
) => new BobbinError(code, message, { path, rule }, { cause })

function standardValidator(schema: Extract<InputSchema, { '~standard': object }>): Validator {
  // ArkType's morphs write into their input, and arguments are frozen.
  const writes = schema['~standard'].vendor === 'arktype'
  return async (args) =>
    validationOf(await schema['~standard'].validate(writes ? structuredClone(args) : args))
}

function validationOf(result: StandardSchemaV1.Result<unknown>): Validation {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const issues = result.issues.slice(0, MAX_ISSUES)
  return {
    ok: false,
    issues: issues.map(({ path = [], message }) => issue(path.map(keyOf).join('.'), message)),
  }
}

/** Shortened, without a final full stop: paths and messages may contain keys and values that the model chose. */
const issue = (path: string, message: string): ArgumentIssue => ({
  path: brief(path, MAX_CHARS),
  rule: brief(message, MAX_CHARS).replace(/\.$/, ''),
})

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === 'object' ? segment.key : segment)

function jsonSchemaValidator(jsonSchema: JsonObject): Validator {
  let compiling: ReturnType<typeof compileJsonSchema> | undefined
  return async (args) => {
    compiling ??= compileJsonSchema(jsonSchema)
    const issues = (await compiling)(args)
    return issues.length === 0 ? { ok: true, value: args } : { ok: false, issues }
  }
}

/** Loaded on first use: most programs describe their tools with a schema library of their own. */
async function compileJsonSchema(jsonSchema: JsonObject) {
  const { jsonSchemaCheck } = await import('./json-schema-check.ts')
  const check = jsonSchemaCheck(jsonSchema)
  return (args: JsonObject): readonly ArgumentIssue[] =>
    check(args, MAX_ISSUES).map(({ path, message }) => issue(path, message))
}
