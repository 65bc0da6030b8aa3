import { isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { IdLedger } from '../core/ids.ts'
import { checkDefinition } from '../model/define-provider.ts'
import type { ProviderDefinition } from '../model/provider-definition.ts'
import { randomSecret, syntheticIds } from '../model/wire/synthetic-id.ts'
import type { SeedOptions, SeedReport } from '../store/branches.ts'
import type { Store } from '../store/store.ts'
import { definitionOf, type WireApi } from './definition-of.ts'

/** A history in the form of a protocol, and how far it is trusted. */
export interface SeedInput extends Omit<SeedOptions, 'items'> {
  readonly api: WireApi
  /** A request, or its messages, contents or items. Instructions and tools in it are not taken. */
  readonly payload: unknown
  /** Definitions of protocols that are not of this package. */
  readonly providers?: readonly ProviderDefinition[]
}

const INPUT = ['conversation', 'api', 'payload', 'trust', 'providers', 'spool', 'key'] as const

/** Stores a history of any protocol as a new conversation, which continues on any other. */
export async function seed(store: Store, input: SeedInput): Promise<SeedReport> {
  if (typeof (store as Partial<Store> | null | undefined)?.seed !== 'function') {
    throw wrongInput('seed', 'store', 'must be a store that can be seeded')
  }
  requireOptions('seed', input, INPUT)
  const { api, payload, providers, ...options } = input
  const list: unknown = providers
  if (list !== undefined && !(Array.isArray(list) && list.every(isObject))) {
    throw wrongInput('seed', 'providers', 'must be a list of definitions, or be left out')
  }
  for (const each of providers ?? []) checkDefinition('seed', each)
  const given = providers?.find((each) => each.api === api)
  const definition = given ?? definitionOf(api, { by: 'seed' })
  const context = { mint: syntheticIds({ secret: randomSecret() }), ids: new IdLedger() }
  const { items } = definition.decode(payload, context)
  if (items.length === 0) {
    throw wrongInput('seed', 'payload', `must hold a history as \`${definition.api}\` writes it`)
  }
  return store.seed({ ...options, items })
}
