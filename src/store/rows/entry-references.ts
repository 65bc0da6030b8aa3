import { hasJsonForm } from '../../core/json/json-form.ts'
import { type Entry, type ModelCall, type NewEntry, REQUEST_PARTS } from '../entry.ts'

const DIGEST = /^[0-9a-f]{64}$/

/**
 * The digests of the artifacts and media that an entry refers to. Only the fields where records keep
 * references count, so that a model cannot reach an artifact by writing a reference into its arguments.
 */
export function referencesOf(entry: NewEntry | Entry): readonly string[] {
  if (entry.kind === 'settlement') {
    const { results, rawArgs, media } = entry.data
    if (rawArgs === undefined && media === undefined) return digestsIn(results)
    return [results, rawArgs, mediaIn(media)].flatMap(digestsIn)
  }
  if (entry.kind === 'model-call') return partsIn(entry.data)
  return entry.kind === 'message' ? digestsIn(entry.data['attachments']) : NONE
}

/** The stored parts of a request. */
function partsIn({ digests, capture }: ModelCall): readonly string[] {
  if (capture === 'digests') return NONE
  return REQUEST_PARTS.flatMap((part) => digests[part] ?? NONE)
}

/** The media beside the text of a result. */
const mediaIn = (placed: unknown): readonly unknown[] =>
  Array.isArray(placed)
    ? placed.map((one: { readonly media?: unknown } | null) => one?.media)
    : NONE

function digestsIn(value: unknown): readonly string[] {
  if (value === undefined) return NONE
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value]
  const digests: string[] = []
  for (const part of parts) {
    const digest = digestOf(part)
    if (digest !== undefined) digests.push(digest)
  }
  return digests
}

const NONE: readonly string[] = []

function digestOf(part: unknown): string | undefined {
  if (typeof part !== 'object' || part === null) return undefined
  // A record, of any copy of the package, holds the artifact itself and not its JSON.
  const json: unknown = hasJsonForm(part) ? part.toJSON() : part
  if (typeof json !== 'object' || json === null) return undefined
  const reference: unknown = Reflect.get(json, '$artifact') ?? Reflect.get(json, '$media')
  if (typeof reference !== 'object' || reference === null) return undefined
  const digest: unknown = Reflect.get(reference, 'sha256')
  return typeof digest === 'string' && DIGEST.test(digest) ? digest : undefined
}
