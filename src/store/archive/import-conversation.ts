import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { TrustTier } from '../../core/trust.ts'
import { EFFECT_UNKNOWN } from '../../records/effect-unknown.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import { type Intent, type NewEntry, type Summary, TAINT } from '../entry.ts'
import type { AppendRequest } from '../rows/append-request.ts'
import { mergedMeta, metaObject, NO_META } from '../rows/conversation-meta.ts'
import { referencesOf } from '../rows/entry-references.ts'
import type { ImportOptions, ImportReport, Store } from '../store.ts'
import { conversationExists } from '../store-errors.ts'
import type { ExportedEntry } from './export-conversation.ts'
import { importArtifact } from './import-artifact.ts'
import { importedEntry } from './import-entry.ts'
import { type ImportLines, importLines } from './import-lines.ts'

/** What import needs of a store besides its public side. */
export interface ImportTarget extends ImportOptions {
  readonly store: Store
  readonly spool?: SpoolStore
  readonly appendAlone: (request: AppendRequest) => Promise<unknown>
}

const LEASE_MS = 10 * 60_000
const BATCH_ENTRIES = 200
const BATCH_CHARS = 1024 * 1024

/** Reads an export into a new conversation; deletes it again when a line is not as it should be. */
export async function importConversation(
  source: AsyncIterable<string> | Iterable<string>,
  target: ImportTarget,
): Promise<ImportReport> {
  const lines = importLines(source)
  try {
    const header = await lines.next()
    if (header === undefined || !('bobbin' in header)) {
      throw lines.invalid('must be the header of an exported conversation')
    }
    const conversation = target.conversation ?? header.conversation
    const meta = importedMeta(lines, header.meta)
    if ((await target.store.conversation(conversation)) !== undefined)
      throw conversationExists(conversation)
    const { key } = target
    const options = { owner: 'import', leaseMs: LEASE_MS, ...(key && { key }) }
    const lease = await target.store.acquire(conversation, options)
    try {
      if (!lease.created) throw conversationExists(conversation)
      if (meta !== undefined) await target.store.setMeta(conversation, meta)
      return await importBody(lines, target, conversation, lease.epoch)
    } catch (error) {
      // If another runner took the conversation, it is theirs to delete.
      const isOurs = lease.created && !isBobbinError(error, 'E_STALE_RUNNER')
      if (isOurs) await target.store.delete(conversation)
      throw error
    } finally {
      await target.store.release(conversation, lease.epoch)
    }
  } finally {
    await lines.close()
  }
}

function importedMeta(lines: ImportLines, given: unknown): JsonObject | undefined {
  if (given === undefined) return undefined
  try {
    const meta = metaObject(given as JsonObject, 'meta')
    mergedMeta(NO_META, meta)
    return meta
  } catch (error) {
    if (!isBobbinError(error)) throw error
    throw lines.invalid(`has wrong metadata: ${error.message}`)
  }
}

async function importBody(
  lines: ImportLines,
  target: ImportTarget,
  conversation: string,
  epoch: number,
): Promise<ImportReport> {
  const artifacts = new Set<string>()
  const openGates = new Map<string, ExportedEntry>()
  const openCalls = new Map<string, ExportedEntry>()
  const settled = new Set<string>()
  const messages = new Set<unknown>()
  let batch: ExportedEntry[] = []
  let blobs: Uint8Array[] = []
  let chars = 0
  let entries = 0
  let last: ExportedEntry | undefined
  const flush = async () => {
    const imported = batch.map(({ time, redacted }) => ({ time, ...(redacted && { redacted }) }))
    await target.appendAlone({ conversation, epoch, entries: batch as NewEntry[], blobs, imported })
    batch = []
    blobs = []
    chars = 0
  }

  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    if ('artifact' in line) {
      const blob = await importArtifact(lines, line, target.spool)
      if (blob !== undefined) blobs.push(blob)
      artifacts.add(line.artifact)
      chars += line.byteLength
    } else if ('entry' in line) {
      const entry = importedEntry(lines, line.entry, target.trust ?? 'third-party')
      assertArtifacts(lines, entry, artifacts)
      assertCovered(lines, entry, entries)
      followGate(entry, openGates)
      followCall(entry, openCalls, settled)
      followMessage(lines, entry, messages)
      batch.push(entry)
      last = entry
      entries++
      chars += lines.length
    } else if ('end' in line) {
      const { end } = line
      if (end.entries !== entries || end.artifacts !== artifacts.size) {
        throw lines.invalid(`must count ${entries} entries and ${artifacts.size} artifacts`)
      }
      for (const gate of openGates.values()) batch.push(abandoned(gate))
      for (const intent of openCalls.values()) batch.push(inDoubt(lines, intent))
      if (last !== undefined) batch.push(tainted(last, target.trust ?? 'third-party'))
      await flush()
      if ((await lines.next()) !== undefined) throw lines.invalid('must not follow the last line')
      return { conversation, entries, artifacts: artifacts.size }
    } else throw lines.invalid('is not expected here')
    if (batch.length >= BATCH_ENTRIES || chars >= BATCH_CHARS) await flush()
  }
  throw lines.invalid('is missing: the file was cut off before its last line')
}

/** The note at the end of what was imported, which is about all of it. */
export const IMPORTED = 'The conversation was imported from a file.'

/** Everything in a file may be a stranger's: messages, calls that have not ended, gates. */
function tainted(last: ExportedEntry, trust: TrustTier): ExportedEntry {
  const data = { level: 'info', code: TAINT, message: IMPORTED, data: { trust } }
  const { redacted: _, ...entry } = last
  return { ...entry, kind: 'note', data }
}

/** A summary covers what is before it. */
function assertCovered(lines: ImportLines, { kind, data }: ExportedEntry, before: number): void {
  if (kind !== 'summary') return
  const { upTo, keeps = [] } = data as Summary
  if (upTo > before || keeps.some((seq) => seq > upTo)) {
    throw lines.invalid('is a summary of entries that are not before it')
  }
}

/** A file may refer only to artifacts that it contains. Otherwise it could read what others stored here. */
function assertArtifacts(
  lines: ImportLines,
  entry: ExportedEntry,
  artifacts: ReadonlySet<string>,
): void {
  const absent = referencesOf(entry as NewEntry).find((digest) => !artifacts.has(digest))
  if (absent !== undefined)
    throw lines.invalid(`refers to artifact ${absent}, which is not in the file`)
}

function followGate(entry: ExportedEntry, open: Map<string, ExportedEntry>): void {
  const { id } = entry.data as { readonly id?: string }
  if (id === undefined) return
  if (entry.kind === 'gate-opened') open.set(id, entry)
  if (entry.kind === 'gate-closed') open.delete(id)
}

/** The intent of a `read` may follow its settlement, because one commit holds both. */
function followCall(
  entry: ExportedEntry,
  open: Map<string, ExportedEntry>,
  settled: Set<string>,
): void {
  const { id } = entry.data as { readonly id: string }
  if (entry.kind === 'settlement') {
    settled.add(id)
    open.delete(id)
  } else if (entry.kind === 'intent' && !settled.has(id)) open.set(id, entry)
}

/** A rewind takes back a message that stands before it. */
function followMessage(lines: ImportLines, { kind, data }: ExportedEntry, known: Set<unknown>) {
  const { id, message } = data as { readonly id?: unknown; readonly message?: unknown }
  if (kind === 'message') known.add(id)
  if (kind === 'rewind' && !known.has(message)) {
    throw lines.invalid('takes back a message that is not before it')
  }
}

/** A gate that was open in the other store is abandoned here: it was shown to other people. */
function abandoned(opened: ExportedEntry): ExportedEntry {
  const { id } = opened.data as { readonly id: string }
  return { ...opened, kind: 'gate-closed', data: { id, outcome: 'abandoned' } }
}

const UNFINISHED = `In doubt: this call had begun and not ended when the conversation was exported. ${EFFECT_UNKNOWN}`

/** A file must not make anything run here, so a call that started in the other store stays in doubt. */
function inDoubt(lines: ImportLines, begun: ExportedEntry): ExportedEntry {
  const { id, tool, args, checksum, createdAt, editOf } = begun.data as unknown as Intent
  try {
    const call = new ToolCall({
      id,
      tool,
      args,
      checksum,
      results: new Tokenizable(UNFINISHED),
      isComplete: true,
      isError: true,
      settlement: 'in-doubt',
      trust: 'first-party',
      createdAt,
      completedAt: createdAt,
      ...(editOf !== undefined && { editOf }),
      ...(begun.redacted && { redacted: begun.redacted }),
    })
    return { ...begun, kind: 'settlement', data: call.toJSON() }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    throw lines.invalid(`follows a wrong intent \`${id}\`: ${error.message}`)
  }
}
