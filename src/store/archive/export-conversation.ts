import { bytesToBase64 } from '../../core/base64.ts'
import type { Clock } from '../../core/clock.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { spoolNotFound } from '../../spool/spool-errors.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { Entry } from '../entry.ts'
import { referencesOf } from '../rows/entry-references.ts'
import { storedGate } from '../rows/gate-form.ts'
import type { Store } from '../store.ts'
import { type Travelling, travelling } from './travelling-entry.ts'

/** The version of the file; readers accept this and every earlier one. */
export const EXPORT_VERSION = 1

/** How many bytes of an artifact stand in one line; divisible by 3, so that no line is padded. */
const CHUNK_BYTES = 192 * 1024

/** One line of an export. Artifacts come before the first entry that refers to them. */
export type ExportLine =
  | {
      readonly bobbin: 'conversation'
      readonly v: number
      readonly conversation: string
      readonly exportedAt: string
      readonly meta?: JsonObject
    }
  | { readonly artifact: string; readonly byteLength: number }
  | { readonly chunk: string }
  | { readonly entry: ExportedEntry }
  | {
      readonly end: {
        readonly entries: number
        readonly artifacts: number
        readonly leftOut: number
      }
    }

/** An entry without what the store adds anew. */
export type ExportedEntry = Pick<Entry, 'v' | 'kind' | 'turnId' | 'time' | 'data' | 'redacted'>

/** Writes a conversation line by line. Memory grows only with the number of digests and of entries that stay behind. */
export async function* exportConversation(
  store: Store,
  conversation: string,
  options: { readonly clock: Clock; readonly spool?: SpoolStore },
): AsyncGenerator<string> {
  const exportedAt = new Date(options.clock.now()).toISOString()
  const meta = (await store.conversation(conversation))?.meta
  const header = { bobbin: 'conversation', v: EXPORT_VERSION, conversation, exportedAt } as const
  yield line({ ...header, ...(meta && { meta }) })
  const written = new Set<string>()
  let entries = 0
  const leftOut: number[] = []
  for await (const entry of store.entries(conversation)) {
    const own = travelling(entry, leftOut)
    if (own === undefined) {
      leftOut.push(entry.seq)
      continue
    }
    for (const digest of referencesOf(own)) {
      if (written.has(digest)) continue
      written.add(digest)
      yield* artifactLines(store, digest, options.spool)
    }
    entries++
    yield line({ entry: withoutForeignState(own) })
  }
  yield line({ end: { entries, artifacts: written.size, leftOut: leftOut.length } })
}

async function* artifactLines(
  store: Store,
  digest: string,
  spool: SpoolStore | undefined,
): AsyncGenerator<string> {
  const blob = await store.blob(digest)
  if (blob !== undefined) {
    yield line({ artifact: digest, byteLength: blob.length })
    if (blob.length > 0) yield line({ chunk: bytesToBase64(blob) })
    return
  }
  if (spool === undefined) throw spoolNotFound(digest)
  const reader = await spool.read(digest)
  const { byteLength } = reader
  yield line({ artifact: digest, byteLength })
  for (let at = 0; at < byteLength; at += CHUNK_BYTES) {
    yield line({ chunk: bytesToBase64(await reader.read(at, at + CHUNK_BYTES)) })
  }
}

/** Leaves out opaque state, which only its provider may see again. */
function withoutForeignState(entry: Travelling): ExportedEntry {
  const { v, kind, turnId, time, redacted } = entry
  const own = entry.kind === 'gate-opened' ? storedGate(entry.data) : entry.data
  const { providerData: _, ...data } = own as unknown as Record<string, JsonValue>
  // The context of a turn says who its user is.
  if (kind === 'gate-opened' || kind === 'turn-start') delete data['context']
  return {
    v,
    kind,
    turnId,
    time,
    data,
    ...(redacted && { redacted }),
  }
}

function line(content: ExportLine): string {
  return JSON.stringify(content)
}
