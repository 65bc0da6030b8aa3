import type { JsonValue } from '../../core/json/json.ts'
import type { ProviderData } from '../../core/wire-reference.ts'

/** The key under which opaque state may be replayed. */
export interface ProviderKey {
  readonly api: string
  readonly endpoint?: string
  readonly modelFamily?: string
}

/** Seals `data` under the key of the wire that it came from. */
export function providerData(key: ProviderKey, data: JsonValue): ProviderData {
  return {
    api: key.api,
    ...(key.endpoint !== undefined && { endpoint: key.endpoint }),
    ...(key.modelFamily !== undefined && { modelFamily: key.modelFamily }),
    data,
  }
}

/**
 * The data if it may be replayed under `key`, otherwise undefined. A part of the key that is missing on
 * either side matches everything.
 */
export function ownData(data: ProviderData | undefined, key: ProviderKey): JsonValue | undefined {
  if (data === undefined || data.api !== key.api) return undefined
  const agrees = (mine?: string, theirs?: string) =>
    mine === undefined || theirs === undefined || mine === theirs
  return agrees(data.endpoint, key.endpoint) && agrees(data.modelFamily, key.modelFamily)
    ? data.data
    : undefined
}
