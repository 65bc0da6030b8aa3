import { isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { Abilities, LoopbackHalf, ProviderDefinition } from './provider-definition.ts'

const FUNCTIONS = ['detect', 'decode', 'decodeStream', 'encode', 'requestBody', 'errors'] as const
const FRAMINGS: readonly unknown[] = ['sse', 'json', 'eventstream']

const NAMES: Readonly<Record<keyof ProviderDefinition, true>> = {
  api: true,
  provider: true,
  version: true,
  title: true,
  framing: true,
  history: true,
  abilities: true,
  detect: true,
  decode: true,
  decodeStream: true,
  encode: true,
  requestBody: true,
  continuedBody: true,
  appends: true,
  validate: true,
  errors: true,
  loopback: true,
  fixtures: true,
  cli: true,
}

const ABILITIES: Readonly<Record<keyof Abilities, true>> = {
  appendTools: true,
  appendInstructions: true,
  lateResults: true,
  cacheMarkers: true,
  boundThinking: true,
}

/** What a loopback half must have. */
const HALF = [
  ['frame', 'function'],
  ['isStream', 'function'],
  ['errorBody', 'function'],
  ['errorEvent', 'function'],
  ['basePath', 'string'],
] as const satisfies readonly (readonly [keyof LoopbackHalf, string])[]

/** The definition of a protocol, checked and frozen: what `wire`, `wireModel` and `modelConformance` take. */
export function defineProvider<
  const Api extends string,
  Part extends object,
  Body extends object = object,
>(
  definition: ProviderDefinition<Part, Body> & { readonly api: Api },
): ProviderDefinition<Part, Body> & { readonly api: Api } {
  // The copy is checked: methods of a class would not be in it.
  const own = isObject(definition) ? { ...definition } : definition
  checkDefinition('defineProvider', own)
  requireOptions('defineProvider', own, Object.keys(NAMES))
  return Object.freeze(own)
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
  const { version, title, validate, continuedBody, appends, framing, fixtures } = given
  const isVersion = Number.isFinite(version) || (typeof version === 'string' && version !== '')
  need('version', isVersion, 'must be a text or a number')
  const isTitle = title === undefined || typeof title === 'string'
  need('title', isTitle, 'must be a text, or be left out')
  for (const name of FUNCTIONS) {
    need(name, typeof given[name] === 'function', 'must be a function')
  }
  const isRules = validate === undefined || typeof validate === 'function'
  need('validate', isRules, 'must be a function, or be left out')
  const isAppending = appends === undefined || typeof appends === 'function'
  need('appends', isAppending, 'must be a function, or be left out')
  const isBody = continuedBody === undefined || typeof continuedBody === 'function'
  need('continuedBody', isBody, 'must be a function, or be left out')
  const isFraming = framing === undefined || FRAMINGS.includes(framing)
  need('framing', isFraming, `must be one of ${FRAMINGS.join(', ')}, or be left out`)
  const isList = fixtures === undefined || Array.isArray(fixtures)
  need('fixtures', isList, 'must be a list, or be left out')
  checkParts(given, need)
}

/** The members that have members of their own. */
function checkParts(
  { history, abilities, loopback }: Readonly<Record<string, unknown>>,
  need: (path: string, isRight: boolean, rule: string) => void,
): void {
  const isPlace = isObject(history) && typeof Reflect.get(history, 'member') === 'string'
  need('history', history === undefined || isPlace, 'must have a `member`, or be left out')
  const isGiven = isObject(abilities) && !Array.isArray(abilities)
  need('abilities', abilities === undefined || isGiven, 'must be an object, or be left out')
  for (const [name, value] of Object.entries(abilities ?? {})) {
    const rule = `must be one of ${Object.keys(ABILITIES).join(', ')}, with true or false`
    const isKnown = Object.hasOwn(ABILITIES, name)
    need(`abilities.${name}`, isKnown && (value === undefined || typeof value === 'boolean'), rule)
  }
  if (loopback === undefined) return
  need('loopback', isObject(loopback), 'must be an object, or be left out')
  const half = loopback as object
  need('loopback.route', Reflect.get(half, 'route') instanceof RegExp, 'must be a pattern')
  for (const [name, type] of HALF) {
    const isRight = typeof Reflect.get(half, name) === type
    need(`loopback.${name}`, isRight, `must be a ${type === 'string' ? 'text' : type}`)
  }
}
