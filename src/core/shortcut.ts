import * as v from 'valibot'

/** Gives what `schema` would give, or undefined where only the schema itself can tell. */
type Shortcut<S extends v.GenericSchema> = (
  input: unknown,
  config: v.Config<v.BaseIssue<unknown>>,
) => v.InferOutput<S> | undefined

/**
 * The configuration under which no shortcut is tried: whoever runs a schema with it knows that they have
 * nothing to say, and trying them at every level again would look at hostile input many times over.
 */
export const CAREFULLY: v.Config<v.BaseIssue<unknown>> = Object.freeze({ abortEarly: true })

/** The shortcuts of the schemas that have one, for schemas that are made of them. */
const shortcuts = new WeakMap<object, Shortcut<v.GenericSchema>>()

/**
 * The same schema with a quick way for values that fit. Whatever the shortcut does not answer goes
 * through the schema, so errors and odd cases are its business alone.
 */
export function withShortcut<S extends v.GenericSchema>(schema: S, shortcut: Shortcut<S>): S {
  const quick = {
    ...schema,
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      const value = config === CAREFULLY ? undefined : shortcut(dataset.value, config)
      if (value === undefined) return schema['~run'](dataset, config)
      return Object.assign(dataset, { typed: true as const, value })
    },
  }
  shortcuts.set(quick, shortcut)
  return quick
}

/** Gives what a schema gives for a value that fits, where there is a quick way to tell. */
export function shortcutOf<S extends v.GenericSchema>(schema: S): Shortcut<S> | undefined {
  return (shortcuts.get(schema) ?? plainShortcut(schema)) as Shortcut<S> | undefined
}

/** The schemas that only look, and give what they were given. */
function plainShortcut(schema: v.GenericSchema): Shortcut<v.GenericSchema> | undefined {
  if ('pipe' in schema) return undefined
  if ('wrapped' in schema) return shortcutOf(schema.wrapped as v.GenericSchema)
  if (schema.type === 'string' || schema.type === 'boolean') {
    const { type } = schema
    return (value) => (typeof value === type ? value : undefined)
  }
  if ('literal' in schema) return (value) => (value === schema.literal ? value : undefined)
  if (schema.type !== 'picklist' || !('options' in schema)) return undefined
  const options = schema.options as readonly unknown[]
  return (value) => (options.includes(value) ? value : undefined)
}

/** `v.strictObject` for records that are made by the thousand: one pass over a prepared list of fields. */
export function recordFields<const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> {
  const fields = Object.entries(entries).map(([key, schema]) => ({
    key,
    schema,
    shortcut: shortcutOf(schema),
    isOptional: schema.type === 'optional',
    fixed: fixedDefault(schema),
  }))
  return withShortcut(v.strictObject(entries), (input, config) => {
    if (typeof input !== 'object' || input === null) return undefined
    // Fields that are inherited would make up for unknown ones in the count below, as hidden ones would if
    // it left them out.
    if (Object.getPrototypeOf(input) !== Object.prototype) return undefined
    const output: Record<string, unknown> = {}
    let known = 0
    for (let i = 0; i < fields.length; i++) {
      const { key, schema, shortcut, isOptional, fixed } = fields[i] as (typeof fields)[number]
      const value = (input as Record<string, unknown>)[key]
      if (value === undefined) {
        if (!isOptional || key in input) return undefined
        if (fixed !== undefined) output[key] = fixed
        continue
      }
      known++
      const quick: unknown = shortcut?.(value, config)
      if (quick !== undefined) {
        output[key] = quick
        continue
      }
      const result = schema['~run']({ value }, CAREFULLY)
      if (!result.typed || result.issues !== undefined) return undefined
      output[key] = result.value
    }
    if (Object.getOwnPropertyNames(input).length !== known) return undefined
    return output as v.InferOutput<v.StrictObjectSchema<Entries, undefined>>
  })
}

/** What a missing field gives: values of records are immutable, so one serves all. */
function fixedDefault(schema: v.GenericSchema): unknown {
  const given: unknown = 'default' in schema ? schema.default : undefined
  if (given === undefined) return undefined
  if (typeof given === 'function') throw new TypeError('A default of a record field is a value.')
  return schema['~run']({ value: undefined }, {}).value
}
