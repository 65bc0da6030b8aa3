import { DateTime } from 'luxon'
import * as v from 'valibot'
import { sha256Hex } from '#hash'
import { brandOf } from './error/brand.ts'
import { BobbinError } from './error/error.ts'
import type { ErrorCode } from './error/error-codes.ts'
import { isoTime } from './fields.ts'
import { canonicalStringify } from './json/canonical.ts'
import type { JsonObject, JsonValue } from './json/json.ts'
import { hasJsonForm } from './json/json-form.ts'

/** The codes for a primitive that could not be built. */
export type InvalidValueCode = Extract<ErrorCode, `E_INVALID_INITIAL_${string}_VALUE`>

/** What every record has besides the fields of its schema. */
export interface RecordMethods {
  /** SHA-256 of the canonical stored form; artifacts and media count by their own digests. */
  readonly digest: string
  /** Plain JSON that the class's `fromJSON` turns back into an equal record. */
  toJSON(): JsonObject
}

/** A class whose instances are parsed by `schema` and frozen. */
export interface RecordClass<Input, Output extends object> {
  new (raw: Input): RecordMethods
  /** A Standard Schema: nest it in any library's schemas to validate or build this record's fields. */
  readonly schema: v.GenericSchema<Input, Output>
}

const FORM = Symbol('canonical form')

/** The canonical JSON of a record, artifact or medium. After `digest`, a record has it ready once. */
export function canonicalForm(value: { toJSON(): JsonValue } & { [FORM]?(): string }): string {
  return value[FORM]?.() ?? canonicalStringify(value.toJSON())
}

/**
 * Makes the base class of a primitive: the constructor parses by `schema`, assigns the fields, and freezes.
 * The class declares its fields for readers, and `implements Readonly<v.InferOutput<typeof schema>>` makes the
 * compiler compare them with the schema.
 */
export function record<Input, Output extends object>(
  name: string,
  code: InvalidValueCode,
  schema: v.GenericSchema<Input, Output>,
): RecordClass<Input, Output> {
  class Base {
    static readonly schema = schema
    readonly #parsed = true
    #digest: string | undefined
    #form: string | undefined

    constructor(raw: Input) {
      Object.assign(this, parseOrThrow(name, code, schema, raw))
      Object.freeze(this)
    }

    get digest(): string {
      if (this.#digest === undefined) {
        this.#form = canonicalStringify(this.toJSON())
        this.#digest = sha256Hex(this.#form)
      }
      return this.#digest
    }

    /** Gives up what `digest` wrote: a record must not hold its own text for as long as it lives. */
    [FORM](): string {
      const form = this.#form ?? canonicalStringify(this.toJSON())
      this.#form = undefined
      return form
    }

    toJSON(): JsonObject {
      const json: Record<string, JsonValue> = {}
      for (const [key, value] of Object.entries(this)) {
        if (value !== undefined) json[key] = toJsonValue(value)
      }
      return json
    }

    [brandOf(name)](): boolean {
      return #parsed in this
    }
  }
  return Base
}

/** Parses `raw`, or throws the primitive's error with the path and the rule of the first fault. */
export function parseOrThrow<Input, Output>(
  name: string,
  code: InvalidValueCode,
  schema: v.GenericSchema<Input, Output>,
  raw: Input,
): Output {
  const parsed = run(name, code, schema, raw)
  if (parsed.issues === undefined) return parsed.value
  const issue = parsed.issues[0]
  throw invalidValue(name, code, v.getDotPath(issue) ?? '', ruleOf(issue), causeOf(issue))
}

/** Reading a getter or a proxy runs foreign code, which may throw anything. */
function run<Input, Output>(
  name: string,
  code: InvalidValueCode,
  schema: v.GenericSchema<Input, Output>,
  raw: Input,
) {
  try {
    return schema['~run']({ value: raw }, { abortEarly: true })
  } catch (cause) {
    const path = throwingField(schema, raw) ?? ''
    throw invalidValue(name, code, path, 'must be plain data: reading it throws an error', cause)
  }
}

/** The first field that throws when it is read again, if there is one. */
function throwingField(schema: v.GenericSchema, raw: unknown): string | undefined {
  const entries = 'entries' in schema ? (schema.entries as v.ObjectEntries) : {}
  return Object.keys(entries).find((key) => {
    try {
      entries[key]?.['~run']({ value: Reflect.get(raw as object, key) }, { abortEarly: true })
      return false
    } catch {
      return true
    }
  })
}

function invalidValue(
  name: string,
  code: InvalidValueCode,
  path: string,
  rule: string,
  cause: unknown,
): BobbinError {
  const where = path === '' ? `\`${name}\`` : `\`${name}.${path}\``
  const options = cause === undefined ? {} : { cause }
  return new BobbinError(code, `${where} ${rule}.`, { path, rule }, options)
}

function ruleOf(issue: v.BaseIssue<unknown>): string {
  if (issue.type !== 'strict_object') return issue.message
  if (issue.expected === 'Object') return 'must be an object with the fields of this record'
  return issue.expected === 'never'
    ? 'is not a field of this record: remove it'
    : 'is required and missing'
}

/** A nested record's own error says best what is wrong: keep it as the cause. */
function causeOf(issue: v.BaseIssue<unknown>): Error | undefined {
  return issue.input instanceof Error ? issue.input : undefined
}

function toJsonValue(value: unknown): JsonValue {
  if (typeof value !== 'object' || value === null) return value as JsonValue
  if (value instanceof DateTime) return isoTime(value as DateTime)
  if (Array.isArray(value)) return value.map(toJsonValue)
  return hasJsonForm(value) ? value.toJSON() : (value as JsonValue)
}
