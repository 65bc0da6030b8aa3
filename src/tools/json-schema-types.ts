import type { JsonValue } from '../core/json/json.ts'

/** The TypeScript type of a literal JSON Schema, for the keywords that tools use every day. */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer U)[] }
      ? FromJsonSchema<U>
      : S extends { readonly type: infer T }
        ? OfType<T, S>
        : JsonValue

type OfType<T, S> = T extends readonly (infer U)[]
  ? OfType<U, S>
  : T extends 'object'
    ? OfObject<S>
    : T extends 'array'
      ? S extends { readonly items: infer I }
        ? FromJsonSchema<I>[]
        : JsonValue[]
      : T extends 'string'
        ? string
        : T extends 'number' | 'integer'
          ? number
          : T extends 'boolean'
            ? boolean
            : T extends 'null'
              ? null
              : JsonValue

type OfObject<S> = S extends { readonly properties: infer P }
  ? Flatten<
      { -readonly [K in keyof P as K extends Required<S> ? K : never]: FromJsonSchema<P[K]> } & {
        -readonly [K in keyof P as K extends Required<S> ? never : K]?: FromJsonSchema<P[K]>
      }
    >
  : { [key: string]: JsonValue }

/** With a `required` of type `string[]`, no member is known to be required. */
type Required<S> = S extends { readonly required: readonly (infer R)[] }
  ? string extends R
    ? never
    : R
  : never

type Flatten<T> = { [K in keyof T]: T[K] }
