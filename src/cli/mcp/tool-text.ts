import { brief } from '../../core/error/cut-text.ts'
import type { Tool } from '../../tools/tool.ts'
import { beside, columnsOf } from '../terminal/columns.ts'
import type { Io } from '../terminal/io.ts'
import { paintFor } from '../terminal/paint.ts'
import { widthOf } from '../terminal/text-width.ts'
import { wrapLines } from '../terminal/word-wrap.ts'
import type { OneServer } from './one-server.ts'

/** A text of a definition on one line. Definitions are read with hidden characters shown: once is enough. */
export const onOneLine = (text: string, limit: number) =>
  brief(text.replace(/\s+/g, ' ').trim(), limit)

/** What a program reads about a tool. */
export function toolFacts(tool: Tool, { infoOf }: Pick<OneServer, 'infoOf'>) {
  const { name, description, jsonSchema, effect, meta } = tool
  const { title, annotations, asks = false } = infoOf(tool) ?? {}
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: jsonSchema,
    effect,
    approval: asks,
    ...(annotations && { annotations }),
    meta,
  }
}

/** One tool whole, for a person. All of it is a stranger's text. */
export function toolLines(tool: Tool, server: OneServer, io: Io): readonly string[] {
  const paint = paintFor(io)
  const columns = columnsOf(io)
  const { title, annotations = {}, asks = false } = server.infoOf(tool) ?? {}
  const head = title === undefined || title === tool.name ? '' : `  ${onOneLine(title, 200)}`
  const hints = Object.entries(annotations).map(([hint, value]) => `${hint} ${value}`)
  const isTrusted = server.entry.policy.trusted === true
  const facts = [
    ['effect', `${tool.effect}${asks ? ', asks for approval' : ''}`],
    ['hints', hints.length === 0 ? 'none' : `${hints.join(', ')}${isTrusted ? '' : NOT_COUNTED}`],
  ] as const
  const parameters = parametersOf(tool.jsonSchema)
  const width = Math.min(24, Math.max(6, ...parameters.map(([name]) => widthOf(name)))) + 4
  const row = ([name, text]: readonly [string, string]) =>
    beside(`  ${paint.bold(name)}${widthOf(name) > width - 4 ? '  ' : ''}`, text, width, columns)
  return [
    `${paint.bold(tool.name)}${head}`,
    ...(tool.description.trim() === '' ? [] : ['', wrapLines(tool.description.trim(), columns)]),
    '',
    parameters.length === 0 ? 'Parameters: none' : 'Parameters:',
    ...parameters.map(row),
    '',
    ...facts.map(row),
  ]
}

const NOT_COUNTED = ' (they count only for a `trusted` server)'
/** More parameters than any form needs. */
const MAX_PARAMETERS = 200

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: unknown
}

function parametersOf(jsonSchema: object): readonly (readonly [string, string])[] {
  const { properties, required } = jsonSchema as Schema
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(Object(properties) as Readonly<Record<string, unknown>>)
    .slice(0, MAX_PARAMETERS)
    .map(([name, schema]) => {
      const { description } = Object(schema) as { readonly description?: unknown }
      const said = typeof description === 'string' ? `: ${onOneLine(description, 500)}` : ''
      const must = needed.includes(name) ? ', required' : ''
      return [onOneLine(name, 100), `${typeText(schema)}${must}${said}`] as const
    })
}

/** The type of a parameter in a few words. */
function typeText(schema: unknown): string {
  const {
    type,
    enum: values,
    default: given,
  } = Object(schema) as {
    readonly type?: unknown
    readonly enum?: unknown
    readonly default?: unknown
  }
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  const named = types.filter((each) => typeof each === 'string').join(' or ') || 'any'
  const what = Array.isArray(values)
    ? values.map((each) => JSON.stringify(each)).join(' | ')
    : named
  const otherwise = given === undefined ? '' : `, ${JSON.stringify(given)} unless given`
  return onOneLine(`${what}${otherwise}`, 200)
}
