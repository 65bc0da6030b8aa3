import { parseArgs } from 'node:util'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { Io } from '../terminal/io.ts'
import { usageError } from './usage-error.ts'

/** One option of a command; `value` names what it takes, in help. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly multiple?: boolean
  readonly value?: string
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

type ValueOf<O extends Option> = O['type'] extends 'boolean' ? boolean : string

/** The values of a command's options. */
export type Values<O extends Options> = {
  readonly [K in keyof O]?: O[K] extends { readonly multiple: true }
    ? readonly ValueOf<O[K]>[]
    : ValueOf<O[K]>
}

export interface Given<O extends Options> {
  readonly values: Values<O>
  readonly positionals: readonly string[]
}

/** A command whose options are declared as data; help and parsing follow from them. */
export interface Command {
  readonly name: string
  /** How it is called, one form a line, without the program's name. */
  readonly usage: readonly string[]
  readonly about: string
  readonly options: Options
  execute(args: readonly string[], io: Io): Promise<number>
}

export function command<const O extends Options>(declared: {
  readonly name: string
  readonly usage: readonly string[]
  readonly about: string
  readonly options: O
  run(given: Given<O>, io: Io): Promise<number>
}): Command {
  const { name, usage, about, options, run } = declared
  return {
    name,
    usage,
    about,
    options,
    execute: (args, io) => run(parse(name, options, args), io),
  }
}

function parse<O extends Options>(name: string, options: O, args: readonly string[]): Given<O> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: Object.fromEntries(
        Object.entries(options).map(([key, { type, short, multiple = false }]) => [
          key,
          { type, multiple, ...(short !== undefined && { short }) },
        ]),
      ),
      allowPositionals: true,
    })
    return { values: values as Values<O>, positionals }
  } catch (error) {
    const said = thrownText(error).split('. ')[0] ?? ''
    throw usageError(`${said.replace(/\.$/, '')}. \`bobbin help ${name}\` lists its options.`, name)
  }
}

/** The one positional that a command takes, or a sentence that names what is missing. */
export function onePositional(positionals: readonly string[], what: string, name: string): string {
  const [first, second] = positionals
  if (first === undefined) {
    throw usageError(`\`bobbin ${name}\` needs ${what}. See \`bobbin help ${name}\`.`, name)
  }
  if (second !== undefined) {
    throw usageError(`\`bobbin ${name}\` takes one ${what}; \`${second}\` is too many.`, name)
  }
  return first
}
