import type { JsonObject } from './json.ts'

/** Replaces a type that cannot be JSON; `Why` appears in the compiler's error. */
export interface NotJson<Why extends string> {
  readonly '~notJson': Why
}

type Callable = ((...args: never) => unknown) | (abstract new (...args: never) => unknown)

/** Their methods would give these away too, but then the error would name methods. */
type Foreign =
  | bigint
  | symbol
  | Callable
  | Date
  | RegExp
  | PromiseLike<unknown>
  | ArrayBufferView
  | { readonly forEach: Callable; readonly has: Callable }

/**
 * `T`, if JSON can hold it, interfaces and whatever is nested in them included; else a type that differs at
 * the place where it cannot, and says so. A member that may be `undefined` is left out when it is.
 */
export type JsonCompatible<T> = T extends string | number | boolean | null
  ? T
  : T extends undefined
    ? NotJson<'undefined has no form in JSON but as a member of an object'>
    : T extends readonly (infer Item)[]
      ? readonly JsonCompatible<Item>[]
      : T extends Foreign
        ? NotJson<'has no form in JSON'>
        : [keyof T] extends [never]
          ? T extends JsonObject
            ? T
            : NotJson<'says too little about what is in it'>
          : {
              readonly [K in keyof T]: K extends symbol
                ? NotJson<'a symbol cannot be a key in JSON'>
                : Member<T[K]>
            }

type Member<T> = T extends undefined ? T : JsonCompatible<T>
