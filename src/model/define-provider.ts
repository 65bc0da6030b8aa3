import { isObject, wrongInput } from '../core/error/wrong-input.ts'
import type { ProviderDefinition } from './provider-definition.ts'

const FUNCTIONS = ['detect', 'decode', 'decodeStream', 'encode', 'requestBody', 'errors'] as const
const FRAMINGS: readonly unknown[] = ['sse', 'json', 'eventstream']

/** The definition of a protocol, checked and frozen: what `wire`, `wireModel` and `modelConformance` take. */
export function defineProvider<
  const Api extends string,
  Part extends object,
  Body extends object = object,
>(
  definition: ProviderDefinition<Part, Body> & { readonly api: Api },
): ProviderDefinition<Part, Body> & { readonly api: Api } {
  checkDefinition('defineProvider', definition)
  return Object.freeze({ ...definition })
}

/** Refuses what cannot be a definition: types do not speak for JavaScript callers. */
export function checkDefinition(
  of: string,
  definition: unknown,
): asserts definition is ProviderDefinition {
  if (!isObject(definition)) {
    throw wrongInput(of, '', 'must be an object: `{ api, provider, version, detect, … }`')
  }
  const given = definition as Readonly<Record<string, unknown>>
  const need = (path: string, isRight: boolean, rule: string) => {
    if (!isRight) throw wrongInput(of, path, rule)
  }
  for (const name of ['api', 'provider'] as const) {
    const value = given[name]
    need(name, typeof value === 'string' && value !== '', 'must be a text that is not empty')
  }
  const { version, validate, continuedBody, framing, history, loopback, fixtures } = given
  const isVersion = typeof version === 'number' || (typeof version === 'string' && version !== '')
  need('version', isVersion, 'must be a text or a number')
  for (const name of FUNCTIONS) {
    need(name, typeof given[name] === 'function', 'must be a function')
  }
  const isRules = validate === undefined || typeof validate === 'function'
  need('validate', isRules, 'must be a function, or be left out')
  const isBody = continuedBody === undefined || typeof continuedBody === 'function'
  need('continuedBody', isBody, 'must be a function, or be left out')
  const isFraming = framing === undefined || FRAMINGS.includes(framing)
  need('framing', isFraming, `must be one of ${FRAMINGS.join(', ')}, or be left out`)
  const isPlace = isObject(history) && typeof Reflect.get(history, 'member') === 'string'
  need('history', history === undefined || isPlace, 'must have a `member`, or be left out')
  const isHalf = isObject(loopback) && typeof Reflect.get(loopback, 'frame') === 'function'
  need('loopback', loopback === undefined || isHalf, 'must have a `frame`, or be left out')
  const isList = fixtures === undefined || Array.isArray(fixtures)
  need('fixtures', isList, 'must be a list, or be left out')
}
