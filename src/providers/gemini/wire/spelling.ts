import type { JsonObject, JsonValue } from '../../../core/json/json.ts'
import { asList, asObject } from '../../../model/wire/wire-value.ts'
import { kindOf, type PartKind } from './wire.ts'

const SNAKE = /^[a-z][a-z\d]*(?:_[a-z\d]+)+$/

/**
 * The members of one object in camelCase. The provider takes both spellings, even mixed, and we read this one. Where an
 * object has both, the camelCase one counts and the other stays as it is.
 */
export function inCamelCase(object: JsonObject): JsonObject {
  let hasSnake = false
  for (const name in object) hasSnake ||= name.includes('_')
  if (!hasSnake) return object
  const entries = Object.entries(object).map(([name, value]): [string, JsonValue] => {
    const camel = SNAKE.test(name) ? camelOf(name) : name
    const isTaken = camel !== name && (object[camel] ?? null) !== null
    return [isTaken ? name : camel, value]
  })
  // Nulls first: they say nothing and must not replace the same member in the other spelling.
  const isSaid = ([, value]: [string, JsonValue]) => Number(value !== null)
  return Object.fromEntries(entries.toSorted((a, b) => isSaid(a) - isSaid(b)))
}

function camelOf(name: string): string {
  return name.replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
}

function snakeOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A part in camelCase; what the model and the tools wrote is left alone, and so are parts that we do not know. */
export function spelledPart(value: JsonValue): JsonValue {
  const part = asObject(value)
  if (part === undefined) return value
  const read = inCamelCase(part)
  const kind = kindOf(read)
  if (kind === undefined) return value
  const held = asObject(read[kind])
  if (held === undefined) return read
  const inner = spelledInside(kind, held)
  return inner === held ? read : { ...read, [kind]: inner }
}

function spelledInside(kind: PartKind, held: JsonObject): JsonObject {
  const read = inCamelCase(held)
  if (kind === 'functionCall' && Array.isArray(read['partialArgs'])) {
    const pieces = asList(read['partialArgs']).map((piece) => {
      const object = asObject(piece)
      return object === undefined ? piece : inCamelCase(object)
    })
    return { ...read, partialArgs: pieces }
  }
  if (kind === 'functionResponse' && Array.isArray(read['parts'])) {
    return { ...read, parts: asList(read['parts']).map(spelledPart) }
  }
  return read
}

/** The parts of a content; one alone may stand there without a list. */
export function partsOf({ parts }: JsonObject): readonly JsonValue[] {
  if (Array.isArray(parts)) return asList(parts).map(spelledPart)
  return parts === undefined || parts === null ? [] : [spelledPart(parts)]
}

/** The name under which a part holds its kind, as it was written. */
export function writtenName(part: JsonObject, kind: PartKind): string {
  return (part[kind] ?? null) === null && part[snakeOf(kind)] !== undefined ? snakeOf(kind) : kind
}
