/** A real JSON value, and nothing else. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject
/** A read-only JSON array. */
export type JsonArray = readonly JsonValue[]
/** A read-only JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/**
 * An object that may be JSON, also one of an interface, which has no index signature. Its members are checked when it
 * is read; the type refuses lists, maps, dates and functions by members that only they have.
 */
export type PlainObject =
  | Readonly<Record<string, unknown>>
  | (object & {
      readonly [Symbol.iterator]?: never
      readonly [Symbol.toPrimitive]?: never
      readonly [Symbol.hasInstance]?: never
    })
