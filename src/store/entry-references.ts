import { hasJsonForm } from '../core/json-form.ts'
import type { Entry, NewEntry } from './entry.ts'
import { LastingEntry } from './lasting-entry.ts'

const DIGEST = /^[0-9a-f]{64}$/

/**
 * The digests of the artifacts and media that an entry refers to. Only the places where records keep
 * references count: a model that writes a reference into its arguments gets hold of nothing.
 */
export function referencesOf(entry: NewEntry | Entry): readonly string[] {
  if (entry instanceof LastingEntry) {
    return entry.reference === undefined ? NONE : [entry.reference]
  }
  if (entry.kind === 'settlement') {
    const { results, rawArgs } = entry.data
    return rawArgs === undefined ? digestsIn(results) : [results, rawArgs].flatMap(digestsIn)
  }
  return entry.kind === 'message' ? digestsIn(entry.data['attachments']) : NONE
}

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
  // A record that was not written out yet, of whichever copy of the package, holds the artifact itself.
  const json: unknown = hasJsonForm(part) ? part.toJSON() : part
  if (typeof json !== 'object' || json === null) return undefined
  const reference: unknown = Reflect.get(json, '$artifact') ?? Reflect.get(json, '$media')
  if (typeof reference !== 'object' || reference === null) return undefined
  const digest: unknown = Reflect.get(reference, 'sha256')
  return typeof digest === 'string' && DIGEST.test(digest) ? digest : undefined
}
