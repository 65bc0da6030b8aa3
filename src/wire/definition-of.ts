import { BobbinError } from '../core/error/error.ts'
import { isObject } from '../core/error/wrong-input.ts'
import { checkDefinition } from '../model/define-provider.ts'
import type { ProviderDefinition } from '../model/provider-definition.ts'
import { type KnownApi, providers } from './providers.ts'

/** The name of a protocol. Those of this package are known by name; any other is given by its definition. */
// The second half keeps the type open and still lets editors suggest the first.
export type WireApi = KnownApi | (string & {})

/** A protocol of this package by its name, or the definition itself. */
export function definitionOf(
  api: WireApi | ProviderDefinition,
  asked: { readonly by: string },
): ProviderDefinition {
  if (isObject(api)) {
    checkDefinition(asked.by, api)
    return api
  }
  const name: unknown = api
  const found = providers.find((candidate) => candidate.api === name)
  if (found !== undefined) return found
  const known = providers.map((candidate) => candidate.api)
  const names = known.map((each) => `\`${each}\``).join(', ')
  const message = `\`${String(name)}\` is not a protocol of \`${asked.by}\`: use one of ${names}, or a definition of your own.`
  throw new BobbinError('E_UNKNOWN_PROTOCOL', message, { api: String(name), known })
}
