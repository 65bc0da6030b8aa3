import { canonicalStringify } from '../../src/core/json/canonical.ts'
import type { ProviderDefinition } from '../../src/model/provider-definition.ts'
import { bodyDigest } from '../../src/model/wire-model.ts'
import type { Store } from '../../src/store/store.ts'
import type { ExecutorDecision, ExecutorHelpers } from '../../src/turn/executor/executor.ts'
import type { DispatchContext } from '../../src/turn/request/dispatch-context.ts'
import { definitionsOf } from '../../src/turn/request/tool-definitions.ts'
import { providers } from '../../src/wire/providers.ts'
import { requestOf } from '../../src/wire/request-of.ts'
import type { Ledger } from './ledger.ts'

/** Makes the request that a model of one of the protocols would get, keeps its body, and then follows the script. */
export function recorded(
  { bodies }: Ledger,
  { instructions, items, tools }: DispatchContext,
  { roundTrip }: ExecutorHelpers,
  decide: () => ExecutorDecision,
): ExecutorDecision {
  // Conversations switch from one provider to the next as they grow.
  const definition: ProviderDefinition = providers[items.length % providers.length] ?? providers[0]
  const { api, provider, version: adapter } = definition
  const name = { api, provider, model: 'some-model' }
  const request = { instructions, items, tools: definitionsOf(tools) }
  const settings = { stream: items.length % 2 === 0, params: { temperature: 1 } }
  const trip = roundTrip?.(name)
  const part = definition.encode(items)
  const body = definition.requestBody({ ...settings, model: name.model, part, request })
  const digest = bodyDigest(body) ?? ''
  bodies.set(digest, canonicalStringify(body))
  trip?.sent({ ...name, adapter, digest, settings }, request)
  return decide()
}

/** Every request that the log names can be rebuilt, and is the one that was made. */
export async function judgeRequests(
  ledger: Ledger,
  store: Store,
  conversation: string,
  key: { readonly key?: Uint8Array },
): Promise<void> {
  for await (const { kind, data } of store.entries(conversation)) {
    if (kind !== 'model-call' || data.api === undefined) continue
    const name = `${conversation}/${data.id}`
    if (ledger.proven.has(name)) continue
    ledger.proven.add(name)
    const query = { conversation, modelCall: data.id, ...key }
    const { body, proven, reason, missing } = await requestOf(store, query)
    ledger.check(proven && missing.length === 0, `The request ${name} is not proven: ${reason}`)
    const made = ledger.bodies.get(data.digests.request ?? '')
    ledger.check(canonicalStringify(body ?? {}) === made, `The request ${name} is another one`)
  }
}
