import * as v from 'valibot'
import { BobbinError } from './error/error.ts'
import type { ErrorCode } from './error/error-codes.ts'
import { distance } from './word-distance.ts'

/** One option: the check of a given value, and the value that stands in when none is given. */
export type Option<Input, Value = Input | undefined> = v.GenericSchema<Input | undefined, Value>

/** One entry for every option of an interface, which has their types and comments. */
export type OptionTable<Options> = {
  readonly [Name in keyof Options]-?: Option<NonNullable<Options[Name]>>
}

/** What may be passed for the options of a table. */
type Given<Table> = {
  readonly [Name in keyof Table]?: Table[Name] extends v.GenericSchema
    ? Exclude<v.InferInput<Table[Name]>, undefined>
    : never
}

type Entries = Readonly<Record<string, v.GenericSchema>>

/** The values of checked options, with the defaults filled in. */
export type OptionValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends v.GenericSchema
    ? v.InferOutput<Table[Name]>
    : never
}

/** An option without a default. */
export function option<Input>(test: (value: unknown) => boolean, rule: string): Option<Input> {
  return v.optional(v.custom<Input>(test, rule))
}

/** An option with a default. */
export function optionOr<Input>(
  otherwise: Input,
  test: (value: unknown) => boolean,
  rule: string,
): Option<Input, Input> {
  // The default is passed as a function, so that valibot does not check it as input.
  return v.optional(v.custom<Input>(test, rule), () => otherwise as never)
}

/** A number with a lower bound; `Infinity` is one too. */
export const atLeast = (least: number, otherwise: number): Option<number, number> =>
  optionOr(otherwise, isAtLeast(least), `must be a number of at least ${least}`)

export const isAtLeast = (least: number) => (value: unknown) =>
  typeof value === 'number' && value >= least

export const isFunction = (value: unknown): boolean => typeof value === 'function'

/** True for what has these methods. A class will do where its static methods fit: `Date` is a clock. */
export const hasMethods =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    names.every((name) => isFunction(Reflect.get(value, name)))

/** Several options under one name, all of which may be left out. */
export function group<Table extends object>(
  table: Table,
): Option<Given<Table>, OptionValues<Table>> {
  const rule = `must be an object with ${listed(Object.keys(table))}`
  const schema = v.pipe(v.custom<object>(isOptions, rule), v.strictObject(table as Entries))
  return v.optional(schema, {} as never) as unknown as Option<Given<Table>, OptionValues<Table>>
}

/** An object, and not one of the kinds that have a purpose of their own, such as lists and dates. */
const isOptions = (value: unknown): boolean =>
  Object.prototype.toString.call(value) === '[object Object]'

/** Whose options are read, and how a wrong one is reported. */
export interface OptionReader {
  /** The function or class that takes them. */
  readonly of: string
  readonly code: Extract<ErrorCode, 'E_INVALID_RUNNER' | 'E_INVALID_INPUT'>
  /** Where options of earlier versions went, by their old names. */
  readonly renamed?: Readonly<Record<string, string>>
}

/** Checks options and fills in the defaults. Types cannot speak for JavaScript callers. */
export function readOptions<Table extends object>(
  reader: OptionReader,
  table: Table,
  given: unknown,
): OptionValues<Table> {
  const { of } = reader
  if (!isOptions(given)) throw invalid(reader, '', `The options of \`${of}\` must be an object.`)
  const read = v.safeParse(v.strictObject(table as Entries), given, { abortEarly: true })
  if (read.success) return read.output as OptionValues<Table>
  const [issue] = read.issues
  const path = v.getDotPath(issue) ?? ''
  if (issue.type === 'strict_object') throw unknownOption(reader, table as Entries, path)
  // Whether it was too short, or a text, is all that a message may say of a secret.
  const is = /secret/i.test(path) ? '' : `; it is ${shown(issue.input)}`
  throw invalid(reader, path, `\`${path}\` of \`${of}\` ${issue.message}${is}.`)
}

function unknownOption(reader: OptionReader, table: Entries, path: string): BobbinError {
  const { of, renamed = {} } = reader
  const name = path.slice(path.lastIndexOf('.') + 1)
  if (Object.hasOwn(renamed, name)) {
    const message = `\`${path}\` is now \`${renamed[name]}\`: rename it in the options of \`${of}\`.`
    return invalid(reader, path, message)
  }
  const names = namesIn(table)
  const near = nearest(name, names)
  const wayOut =
    near === undefined ? `The options are ${listed(names)}` : `Use \`${near}\`, or remove it`
  return invalid(reader, path, `\`${path}\` is not an option of \`${of}\`. ${wayOut}.`)
}

/** The names of all options, those in groups with the name of their group. */
function namesIn(table: Entries): readonly string[] {
  return Object.entries(table).flatMap(([name, schema]) => {
    const inner = entriesOf(schema)
    return inner === undefined ? [name] : namesIn(inner).map((each) => `${name}.${each}`)
  })
}

/** The table of a group. */
function entriesOf(schema: v.GenericSchema): Entries | undefined {
  const { wrapped } = schema as { readonly wrapped?: { readonly pipe?: readonly unknown[] } }
  const last = wrapped?.pipe?.at(-1) as { readonly entries?: Entries } | undefined
  return last?.entries
}

/** The option whose own name differs least, where that is by a slip or two. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(name.length / 3))
  const near = names
    .map((each) => ({ each, by: distance(name, each.slice(each.lastIndexOf('.') + 1)) }))
    .filter(({ by }) => by <= most)
  return near.sort((a, b) => a.by - b.by)[0]?.each
}

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

/** Enough to recognise what was passed; a long text is not repeated. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value.length <= 20 ? `'${value}'` : 'a string'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return ['function', 'symbol', 'bigint'].includes(typeof value)
    ? `a ${typeof value}`
    : String(value)
}

function invalid({ of, code }: OptionReader, path: string, message: string): BobbinError {
  const rule = message.slice(0, -1)
  return code === 'E_INVALID_RUNNER'
    ? new BobbinError(code, message, { rule })
    : new BobbinError(code, message, { of, path, rule })
}
