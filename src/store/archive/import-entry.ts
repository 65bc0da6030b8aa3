import { checksum } from '../../core/checksum.ts'
import { isBobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { lowerTrust, TRUST_TIERS, type TrustTier } from '../../core/trust.ts'
import { Message } from '../../records/message.ts'
import { SETTLEMENTS } from '../../records/tool-call.ts'
import { escapeTagName } from '../../text/tag-name.ts'
import { CALL_NOTE, IMPORTED_KEY, type ModelCall, type NewEntry } from '../entry.ts'
import { assertNewEntry, isKnownVersion } from '../rows/entry-text.ts'
import { restoredGate } from '../rows/gate-form.ts'
import type { ExportedEntry } from './export-conversation.ts'
import type { ImportLines } from './import-lines.ts'
import { assertReadable, isTime } from './readable-entry.ts'
import { travellingCall } from './travelling-entry.ts'

/** Checks an entry that a stranger may have written, and takes away what it must not claim. */
export function importedEntry(
  lines: ImportLines,
  line: ExportedEntry,
  trust: TrustTier,
): ExportedEntry {
  const json = withGate(line)
  const { v, kind, turnId, time, redacted } = json
  if (!isKnownVersion(v)) throw lines.invalid(`has an entry of unknown version ${String(v)}`)
  if (!isTime(time)) throw lines.invalid('must have a time')
  if (redacted !== undefined && !isPaths(redacted))
    throw lines.invalid('has no list of redacted paths')
  try {
    assertNewEntry(json as NewEntry, 'entry')
  } catch (error) {
    if (isBobbinError(error)) throw lines.invalid(`has a wrong field: ${error.message}`)
    throw error
  }
  if (kind === 'history-item')
    throw lines.invalid('holds what belongs to a provider, which cannot travel')
  const { providerData: _, ...data } = json.data as unknown as Record<string, JsonValue>
  // A file must not say on whose behalf handlers run.
  if (kind === 'gate-opened' || kind === 'turn-start') delete data['context']
  // Nor in whose trace the turn was.
  if (kind === 'turn-start') delete data['trace']
  if (kind === 'gate-opened') delete data['idempotencyKey']
  // A tool that is asked about a key must not tell one conversation of another's calls.
  if (kind === 'intent') data['idempotencyKey'] = IMPORTED_KEY
  // A file must not say what a person allowed here.
  if (kind === 'intent' || kind === 'settlement') delete data['approvedBy']
  if (kind === 'intent') delete data['covered']
  if (kind === 'gate-closed' && isObject(data['decision'])) {
    const { grant: __, ...decision } = data['decision'] as JsonObject
    data['decision'] = decision
  }
  if (kind === 'settlement') settle(lines, data, trust)
  if (kind === 'summary') {
    data['trust'] = lowerTrust(tierOf(data['trust']), trust)
    delete data['place']
  }
  if (kind === 'message' && data['attachments'] !== undefined) {
    data['attachments'] = lowered(data['attachments'], trust)
  }
  // Only runners write what a model reads outside of envelopes.
  if (kind === 'note' && data['code'] === CALL_NOTE) data['code'] = IMPORTED_NOTE
  try {
    assertReadable(kind, data)
  } catch (error) {
    throw lines.invalid(`cannot be read back as a ${kind}: ${thrownText(error).replace(/\.$/, '')}`)
  }
  if (kind === 'message') disarm(data)
  // A file must not name blobs of this store, nor hide parts of a history.
  const own = kind === 'model-call' ? travellingCall(data as unknown as ModelCall) : data
  return { v, kind, turnId, time, data: own, ...(redacted && { redacted }) }
}

const IMPORTED_NOTE = 'IMPORTED_NOTE'

/** What the model said is shown outside of envelopes, so a file must not have it spell one. */
function disarm(data: Record<string, JsonValue>): void {
  const { content } = Message.fromJSON({
    ...data,
    attachments: [],
    content: data['content'] ?? ' ',
  })
  const text = content?.text ?? ''
  const plain = escapeTagName(text)
  if (data['role'] === 'assistant' && plain !== text) data['content'] = plain
}

/** A gate as the store takes it; its exported form is the stored one. */
function withGate(line: ExportedEntry): ExportedEntry {
  const isGate = line.kind === 'gate-opened' && isObject(line.data)
  return isGate ? { ...line, data: restoredGate(line.data as never) } : line
}

function settle(lines: ImportLines, data: Record<string, JsonValue>, trust: TrustTier): void {
  const { tool, args, settlement, redacted } = data
  if (typeof tool !== 'string') throw lines.invalid('must name its tool')
  if (typeof args !== 'object' || args === null) throw lines.invalid('must have arguments')
  if (!SETTLEMENTS.some((known) => known === settlement)) {
    throw lines.invalid(`must have a settlement: ${SETTLEMENTS.join(', ')}`)
  }
  const isRedacted = Array.isArray(redacted) && redacted.length > 0
  if (!isRedacted && data['checksum'] !== checksum(tool, args)) {
    throw lines.invalid('has a checksum that does not match its tool and arguments')
  }
  data['trust'] = lowerTrust(tierOf(data['trust']), trust)
  if (data['results'] !== undefined) data['results'] = lowered(data['results'], trust)
  if (Array.isArray(data['media'])) {
    data['media'] = data['media'].map((one: JsonValue) => {
      const { media = null, ...place } = (one ?? {}) as JsonObject
      return { ...place, media: lowered(media, trust) }
    })
  }
}

/** Media carry a tier of their own. */
function lowered(value: JsonValue, trust: TrustTier): JsonValue {
  if (Array.isArray(value)) return value.map((part: JsonValue) => lowered(part, trust))
  if (typeof value !== 'object' || value === null) return value
  const media = (value as JsonObject)['$media']
  if (typeof media !== 'object' || media === null) return value
  const { trustTier } = media as JsonObject
  return { $media: { ...(media as JsonObject), trustTier: lowerTrust(tierOf(trustTier), trust) } }
}

function tierOf(value: unknown): TrustTier {
  return TRUST_TIERS.find((tier) => tier === value) ?? 'third-party'
}

function isPaths(value: unknown): boolean {
  return Array.isArray(value) && value.every((path) => typeof path === 'string')
}
