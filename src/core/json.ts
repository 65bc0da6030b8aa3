/** A real JSON value, and nothing else. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject
/** A JSON array that nobody changes. */
export type JsonArray = readonly JsonValue[]
/** A JSON object that nobody changes. */
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/**
 * An object that can be looked at as JSON, whatever declares it: an interface has no index signature. What is
 * in it is checked when it is read; lists, maps, dates and functions are refused by what only they have.
 */
export type PlainObject =
  | Readonly<Record<string, unknown>>
  | (object & {
      readonly [Symbol.iterator]?: never
      readonly [Symbol.toPrimitive]?: never
      readonly [Symbol.hasInstance]?: never
    })
