import { sha256Hex } from '#hash'
import type { JsonValue } from '../../core/json/json.ts'
import { type NewEntry, REQUEST_PARTS, type RequestPart } from '../entry.ts'
import type { BlobRow } from './store-rows.ts'

const encoder = new TextEncoder()
/** Tools are the same in every request of a turn, and large. */
const known = new WeakMap<object, BlobRow>()

/** A part of a request as it is stored: its JSON under its digest. Keys keep their order, because a model reads it. */
export function partRow(part: JsonValue): BlobRow {
  const isFixed = typeof part === 'object' && part !== null && Object.isFrozen(part)
  const held = isFixed ? known.get(part) : undefined
  if (held !== undefined) return held
  const bytes = encoder.encode(JSON.stringify(part))
  const row = { digest: sha256Hex(bytes), bytes }
  if (isFixed) known.set(part, row)
  return row
}

/** An entry whose parts of a request are replaced by their digests, and the blobs that hold them. */
export function withoutParts(entry: NewEntry): {
  readonly entry: NewEntry
  readonly blobs: readonly BlobRow[]
} {
  if (entry.kind !== 'model-call' || entry.data.parts === undefined) return { entry, blobs: [] }
  const { parts, ...data } = entry.data
  const found = REQUEST_PARTS.flatMap((name) => {
    const part = parts[name]
    return part === undefined ? [] : [[name, partRow(part)] as const]
  })
  const digests: { [Part in RequestPart]?: string } = {}
  for (const [name, { digest }] of found) digests[name] = digest
  return {
    entry: { ...entry, data: { ...data, digests: { ...data.digests, ...digests } } },
    blobs: found.map(([, row]) => row),
  }
}
