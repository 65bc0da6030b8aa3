import type { StandardSchemaV1 } from '@standard-schema/spec'
import { brief } from '../core/cut-text.ts'
import { BobbinError, isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { PathCode } from '../core/json-error.ts'
import { ARGUMENT_LIMITS, normalizeArguments } from '../core/strict-json.ts'
import { isThenable } from '../core/thenable.ts'
import { thrownText } from '../core/thrown-text.ts'
import {
  type ArgumentIssue,
  type InputSchema,
  isSelfDescribing,
  type SelfDescribingSchema,
  standardPart,
  type Validation,
  type Validator,
} from './input-schema.ts'

/** A schema's two faces: the JSON Schema that a model is shown, and the check that runs. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject
  readonly validate: Validator
}

/** What a schema is for, in the words of the errors about it. */
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

/** Turns whatever schema the author chose into JSON Schema and a validator, or says what is missing. */
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
 * Programs make the same tools for every request, and describing a schema costs more than running the
 * tool. Schemas of libraries are values: none changes once it is made. Plain JSON Schema may.
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
  const rule = 'must describe an object, whose members have names'
  throw invalidSchema(subject, rule, `\`${root}\` ${rule}. Wrap it, for example as { value: … }.`)
}

/** Some kits take the fields of an object without the object around them. */
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
  // ArkType writes what its morphs give into what it is given, and arguments are frozen.
  const writes = schema['~standard'].vendor === 'arktype'
  return (args) => {
    const result = schema['~standard'].validate(writes ? structuredClone(args) : args)
    return isThenable(result) ? Promise.resolve(result).then(validationOf) : validationOf(result)
  }
}

function validationOf(result: StandardSchemaV1.Result<unknown>): Validation {
  if (result.issues === undefined) return { ok: true, value: result.value }
  const issues = result.issues.slice(0, MAX_ISSUES)
  return {
    ok: false,
    issues: issues.map(({ path = [], message }) => issue(path.map(keyOf).join('.'), message)),
  }
}

/** Keys and values in it come from the model, which reads it: short, and without a full stop of its own. */
const issue = (path: string, message: string): ArgumentIssue => ({
  path: brief(path, MAX_CHARS),
  rule: brief(message, MAX_CHARS).replace(/\.$/, ''),
})

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === 'object' ? segment.key : segment)

function jsonSchemaValidator(jsonSchema: JsonObject): Validator {
  let compiling: Promise<Validator> | undefined
  let compiled: Validator | undefined
  return (args) => {
    if (compiled !== undefined) return compiled(args)
    compiling ??= compileJsonSchema(jsonSchema).then((check) => {
      return (compiled = (given) => {
        const issues = check(given)
        return issues.length === 0 ? { ok: true, value: given } : { ok: false, issues }
      })
    })
    return compiling.then((check) => check(args))
  }
}

/** Loaded on first use: most programs describe their tools with a schema library of their own. */
async function compileJsonSchema(jsonSchema: JsonObject) {
  const { jsonSchemaCheck } = await import('./json-schema-check.ts')
  const check = jsonSchemaCheck(jsonSchema)
  return (args: JsonObject): readonly ArgumentIssue[] =>
    check(args, MAX_ISSUES).map(({ path, message }) => issue(path, message))
}
