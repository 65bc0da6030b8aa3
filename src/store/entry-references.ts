import type { Entry, NewEntry } from './entry.ts'

const DIGEST = /^[0-9a-f]{64}$/

/**
 * The digests of the artifacts and media that an entry refers to. Only the places where records keep
 * references count: a model that writes a reference into its arguments gets hold of nothing.
 */
export function referencesOf(entry: NewEntry | Entry): readonly string[] {
  if (entry.kind === 'settlement') {
    return [...digestsIn(entry.data['results']), ...digestsIn(entry.data['rawArgs'])]
  }
  return entry.kind === 'message' ? digestsIn(entry.data['attachments']) : []
}

function digestsIn(value: unknown): string[] {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value]
  return parts.flatMap((part) => {
    if (typeof part !== 'object' || part === null) return []
    const reference: unknown = Reflect.get(part, '$artifact') ?? Reflect.get(part, '$media')
    if (typeof reference !== 'object' || reference === null) return []
    const digest: unknown = Reflect.get(reference, 'sha256')
    return typeof digest === 'string' && DIGEST.test(digest) ? [digest] : []
  })
}
