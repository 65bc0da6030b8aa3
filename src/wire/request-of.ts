import { isBobbinError } from '../core/error/error.ts'
import { isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import type { JsonValue } from '../core/json/json.ts'
import { withChanges } from '../model/appended-changes.ts'
import { checkDefinition } from '../model/define-provider.ts'
import type { ModelRequest } from '../model/model.ts'
import type { ProviderDefinition } from '../model/provider-definition.ts'
import { bodyDigest } from '../model/wire-model.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { type EntryOf, REQUEST_PARTS, type RequestPart } from '../store/entry.ts'
import type { Store } from '../store/store.ts'
import { notFound } from '../store/store-errors.ts'
import { storedResults } from '../store/stored-results.ts'
import { envelopeKey } from '../text/envelope-key.ts'
import { shownItems } from '../turn/request/shown-items.ts'
import type { PreparedRequest } from '../turn/request/turn-request.ts'
import { providers as known } from './providers.ts'

/** Which request to rebuild, and what the store does not have. */
export interface RequestQuery {
  readonly conversation: string
  /** The `id` of the `model-call` entry; the `response` of what the model answered. */
  readonly modelCall: string
  /** The key of the conversation; the store's own unless given. See `conversationKey`. */
  readonly key?: Uint8Array
  /** Definitions of protocols that are not of this package. */
  readonly providers?: readonly ProviderDefinition[]
  /** Where large results are; the store's own spool unless given. */
  readonly spool?: Pick<SpoolStore, 'read'>
  /** The artifact classes that the runner was given. */
  readonly artifacts?: readonly SpooledArtifactConstructor[]
}

/** A request as it was sent, as far as the log can tell. */
export interface RebuiltRequest {
  /** The body that the client was given; absent if the log does not say enough. */
  readonly body?: object
  /** True when the digest of the body is the one that was stored before it was sent. */
  readonly proven: boolean
  /** Why it is not proven. */
  readonly reason?: string
  /** The parts of the request that could not be found. */
  readonly missing: readonly RequestPart[]
}

const QUERY = ['conversation', 'modelCall', 'key', 'providers', 'spool', 'artifacts'] as const

/** Rebuilds the body of a request to a model from the log, and proves by its digest that it is the one that was sent. */
export async function requestOf(store: Store, query: RequestQuery): Promise<RebuiltRequest> {
  checkQuery(store, query)
  const { conversation, modelCall } = query
  const call = await store.get(conversation, 'model-call', modelCall)
  if (call === undefined) throw notFound('model call', modelCall)
  const { parts, missing } = await partsOf(store, call)
  const { api, model, digests } = call.data
  if (api === undefined || model === undefined) {
    return { proven: false, reason: 'The executor asked no model, or does not say which.', missing }
  }
  const definition = [...(query.providers ?? []), ...known].find((each) => each.api === api)
  if (definition === undefined) {
    const reason = `\`${api}\` is not a protocol of this package: pass its definition in \`providers\`.`
    return { proven: false, reason, missing }
  }
  const key = await envelopeKeyIn(store, conversation, query.key)
  const { items, isRedacted } = await shownItems(store, conversation, call, {
    key: key ?? new Uint8Array(32),
    restore: {
      spool: storedResults(store, query.spool),
      ...(query.artifacts && { artifacts: query.artifacts }),
    },
    context: (parts.context ?? []) as unknown as PreparedRequest['context'],
  })
  const body = tried(() => bodyOf(definition, model, parts, items))
  if (body !== undefined && digests.request !== undefined && bodyDigest(body) === digests.request) {
    return { body, proven: true, missing }
  }
  const reason = reasonOf(call, definition, { missing, isRedacted, hasKey: key !== undefined })
  return { ...(body && { body }), proven: false, reason, missing }
}

/** A redacted request may have a shape that no provider takes. */
function tried<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

type Parts = { readonly [Part in RequestPart]?: JsonValue }

function bodyOf(
  definition: ProviderDefinition,
  model: string,
  { instructions, tools, params, output }: Parts,
  items: ModelRequest['items'],
): object {
  const {
    toolChoice,
    stream = true,
    ...settings
  } = (params ?? {}) as Readonly<Record<string, never>>
  const wanted = {
    ...(instructions !== undefined && { instructions }),
    items,
    ...(tools !== undefined && { tools }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(output !== undefined && { output }),
  } as unknown as ModelRequest
  const { endpoint, modelFamily } = settings
  const request = withChanges(wanted, definition.appends?.({ model, ...settings }))
  const part = definition.encode(request.items, {
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  })
  return definition.requestBody({ ...settings, stream, model, part, request })
}

/** The stored parts of a request; a store that is not made by `createStore` may have them in the entry. */
async function partsOf(store: Store, { data }: EntryOf<'model-call'>) {
  const parts: { [Part in RequestPart]?: JsonValue } = {}
  const missing: RequestPart[] = []
  for (const name of REQUEST_PARTS) {
    const digest = data.digests[name]
    const inline = data.parts?.[name]
    if (inline !== undefined) parts[name] = inline
    if (inline !== undefined || digest === undefined) continue
    const blob = await store.blob(digest)
    if (blob === undefined) missing.push(name)
    else parts[name] = JSON.parse(new TextDecoder().decode(blob)) as JsonValue
  }
  return { parts, missing }
}

async function envelopeKeyIn(
  store: Store,
  conversation: string,
  key: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  try {
    // A store that is not made by `createStore` may have no forks.
    const held: Partial<Pick<Store, 'envelopeKey'>> = store
    if (held.envelopeKey !== undefined) return await held.envelopeKey(conversation, key)
    return envelopeKey(key ?? (await store.key(conversation)), conversation)
  } catch (error) {
    if (isBobbinError(error, 'E_STORE_KEY')) return undefined
    throw error
  }
}

/** The first thing that may explain the difference. */
function reasonOf(
  { data }: EntryOf<'model-call'>,
  { api, version }: ProviderDefinition,
  found: { missing: readonly string[]; isRedacted: boolean; hasKey: boolean },
): string {
  const { missing, isRedacted, hasKey } = found
  if (data.digests.request === undefined) return 'No digest of the request is stored.'
  if (data.capture === 'digests') return "The runner stores digests only (`capture: 'digests'`)."
  if (missing.length > 0) return `Parts of the request are not stored: ${missing.join(', ')}.`
  if (isRedacted) return 'Something that the request showed was redacted before it was stored.'
  if (data.scrubbed !== undefined) return 'Secrets were removed from what is stored of the request.'
  if (!hasKey) return 'The key of the conversation is not stored: pass `key`.'
  if (data.adapter !== version) {
    return `Version ${String(data.adapter)} of \`${api}\` made the request, and this is version ${version}.`
  }
  if (data.ownExecutor) return 'An executor of the application made the request.'
  return 'The rebuilt body differs from the one that was sent: pass `artifacts` and `spool` of the runner if it had them.'
}

function checkQuery(store: Store, query: RequestQuery): void {
  const held = store as Partial<Store> | null | undefined
  if (typeof held?.get !== 'function' || typeof held.entries !== 'function') {
    throw wrongInput('requestOf', 'store', 'must be a store')
  }
  requireOptions('requestOf', query, QUERY)
  for (const name of ['conversation', 'modelCall'] as const) {
    const value: unknown = query[name]
    if (typeof value !== 'string' || value === '') {
      throw wrongInput('requestOf', name, 'must be a non-empty string')
    }
  }
  const { key, providers } = query as { readonly key?: unknown; readonly providers?: unknown }
  if (key !== undefined && !(ArrayBuffer.isView(key) && key.byteLength === 32)) {
    throw wrongInput('requestOf', 'key', 'must have 32 bytes, or be left out')
  }
  if (providers !== undefined && !(Array.isArray(providers) && providers.every(isObject))) {
    throw wrongInput('requestOf', 'providers', 'must be a list of definitions, or be left out')
  }
  for (const each of query.providers ?? []) checkDefinition('requestOf', each)
}
