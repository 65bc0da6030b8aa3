/** A real JSON value, and nothing else. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject
/** A JSON array that nobody changes. */
export type JsonArray = readonly JsonValue[]
/** A JSON object that nobody changes. */
export interface JsonObject {
  readonly [key: string]: JsonValue
}
