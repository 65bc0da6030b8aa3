import { BobbinError } from './error.ts'

/**
 * An error about what a function was called with: which function, which part of its input (an empty path for
 * all of it), and what that must be. Types cannot speak for JavaScript callers.
 */
export function wrongInput(of: string, path: string, rule: string): BobbinError<'E_INVALID_INPUT'> {
  const what = path === '' ? `What \`${of}\` is given` : `\`${path}\` of \`${of}\``
  return new BobbinError('E_INVALID_INPUT', `${what} ${rule}.`, { of, path, rule })
}

/**
 * Refuses options that are not an object. If `names` is given, unknown names are refused too: otherwise a typo would
 * silently mean the default.
 */
export function requireOptions(of: string, options: unknown, names?: readonly string[]): void {
  if (!isObject(options) || Array.isArray(options)) {
    throw wrongInput(of, 'options', 'must be an object, or be left out')
  }
  const unknown = names && Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    throw wrongInput(of, unknown, `is not an option: use ${names?.join(', ')}`)
  }
}

/** Refuses values that are not numbers; each function decides what `NaN` means. */
export function requireNumber(of: string, path: string, value: unknown): void {
  if (typeof value === 'number') return
  throw wrongInput(of, path, 'must be a number')
}

/** True for objects, but not for functions. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null

/** True for lists and other iterable objects; strings are not objects. */
export const isIterable = (value: unknown): value is Iterable<unknown> =>
  isObject(value) && Symbol.iterator in value
