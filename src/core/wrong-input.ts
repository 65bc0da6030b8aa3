import { BobbinError } from './error.ts'

/**
 * An error about what a function was called with: which function, which part of its input (an empty path for
 * all of it), and what that must be. Types cannot speak for JavaScript callers.
 */
export function wrongInput(of: string, path: string, rule: string): BobbinError<'E_INVALID_INPUT'> {
  const what = path === '' ? `What \`${of}\` is given` : `\`${path}\` of \`${of}\``
  return new BobbinError('E_INVALID_INPUT', `${what} ${rule}.`, { of, path, rule })
}

/** Refuses options that are none; to leave them out is to take the defaults. */
export function requireOptions(of: string, options: unknown): void {
  if (isObject(options) && !Array.isArray(options)) return
  throw wrongInput(of, 'options', 'must be an object, or be left out')
}

/** True for what has members, functions apart. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null

/** True for lists and whatever else can be gone through; a text is none of them. */
export const isIterable = (value: unknown): value is Iterable<unknown> =>
  isObject(value) && Symbol.iterator in value
