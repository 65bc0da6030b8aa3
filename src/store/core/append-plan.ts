import { agentFrom } from '../active-agent.ts'
import type { NewEntry } from '../entry.ts'
import type { AppendRequest } from '../rows/append-request.ts'
import { blobRow } from '../rows/blob-row.ts'
import { referencesOf } from '../rows/entry-references.ts'
import { encodeEntry } from '../rows/entry-text.ts'
import { type PlannedEntry, redactPlanned } from '../rows/planned-entry.ts'
import type { Redact } from '../rows/redaction.ts'
import { withoutParts } from '../rows/request-parts.ts'
import { sealOf } from '../rows/seal.ts'
import type { AppendPlan, AppendState } from '../rows/store-driver.ts'
import type { BlobRow, ConversationRow, EntryRow } from '../rows/store-rows.ts'
import { GateMoves, type GateOrigin, gatesToRead } from './gate-moves.ts'
import { grantsToRead, useGrants } from './grant-uses.ts'

/** What all appends of a store have in common. */
export interface AppendSettings {
  readonly redact: Redact | undefined
  /** Gives the key of a conversation; called when a turn ends. */
  readonly key: (row: ConversationRow) => Uint8Array
}

/** Turns entries into rows. This is the one place that stamps, redacts, hashes and seals. */
export function planAppend(
  request: AppendRequest,
  settings: AppendSettings,
  now: number,
): AppendPlan {
  const { redact } = settings
  const parts: BlobRow[] = []
  const planned = request.entries.map((entry, at) => {
    const { time = now, redacted } = request.imported?.[at] ?? {}
    const stamped = { entry, time, redacted }
    // The decision that closes a gate is known, and can be redacted, only after the gate was read.
    if (entry.kind === 'gate-closed') return stamped
    const clean = redactPlanned(stamped, redact)
    const own = withoutParts(clean.entry)
    parts.push(...own.blobs)
    return { ...clean, entry: own.entry }
  })
  const entries = planned.map(({ entry }) => entry)
  const blobs = [...withoutRedacted(request, entries, redact), ...parts]
  const { conversation, epoch } = request
  const origin = { conversation, epoch, isImported: request.imported !== undefined, now }
  const digests = blobs.map(({ digest }) => digest)
  return {
    entries,
    blobs,
    gates: gatesToRead(entries),
    grants: grantsToRead(entries),
    seals: entries.some(isTurnEnd),
    prepare: preparation(planned, digests, origin, settings),
  }
}

interface AppendOrigin extends GateOrigin {
  readonly epoch: number
  readonly now: number
}

/** A function of its own, so that a driver that keeps it keeps no bytes with it. */
function preparation(
  planned: readonly PlannedEntry[],
  blobs: readonly string[],
  origin: AppendOrigin,
  { redact, key }: AppendSettings,
): AppendPlan['prepare'] {
  const uses = grantsToRead(entriesOf(planned)).length > 0
  return (state) => {
    const { conversation, epoch, now } = origin
    const gates = new GateMoves(origin, redact, state.gates)
    const rows = planned.map((next, at) => {
      const { entry, time, redacted } = gates.apply(next)
      return encodeEntry(entry, { seq: state.row.length + at + 1, time, epoch, redacted })
    })
    const sealed = sealTurns(rows, state, (previous, digests) =>
      sealOf({ key: key(state.whole()), conversation, previous, digests }),
    )
    const parent = state.row.length === 0 ? parentOf(conversation, planned) : undefined
    const agent = planned.flatMap(({ entry }) => agentFrom(entry) ?? []).at(-1)
    const references = new Set([...planned.flatMap(({ entry }) => referencesOf(entry)), ...blobs])
    return {
      ...sealed,
      gates: [...gates.moved.values()],
      grants: uses ? useGrants(entriesOf(planned), state.grants, now) : [],
      references: [...references],
      updatedAt: now,
      ...(parent !== undefined && { parent }),
      ...(agent !== undefined && { agent }),
    }
  }
}

const entriesOf = (planned: readonly PlannedEntry[]) => planned.map(({ entry }) => entry)

/** The conversation that the first turn ran inside of. Its name begins the name of this one, except after an import. */
function parentOf(conversation: string, planned: readonly PlannedEntry[]): string | undefined {
  const first = planned.find(({ entry }) => entry.kind === 'turn-start')?.entry
  const parent = first?.kind === 'turn-start' ? first.data.parent?.conversation : undefined
  return conversation.startsWith(`${parent}/`) ? parent : undefined
}

const isTurnEnd = ({ kind }: { readonly kind: string }) => kind === 'turn-end'

/** The blobs to store. A blob whose only references were redacted is left out. */
function withoutRedacted(
  request: AppendRequest,
  entries: readonly NewEntry[],
  redact: Redact | undefined,
): readonly BlobRow[] {
  const blobs = request.blobs.map(blobRow)
  if (redact === undefined) return blobs
  const before = new Set(request.entries.flatMap(referencesOf))
  const after = new Set(entries.flatMap(referencesOf))
  return blobs.filter(({ digest }) => after.has(digest) || !before.has(digest))
}

/** Puts a seal on the end of each turn. */
function sealTurns(
  rows: readonly EntryRow[],
  { row: { seal: last, sealedSeq: lastSeq }, unsealed }: AppendState,
  sealFor: (previous: string, digests: readonly string[]) => string,
) {
  let seal = last
  let sealedSeq = lastSeq
  let digests = [...unsealed]
  const entries = rows.map((row) => {
    digests.push(row.digest)
    if (!isTurnEnd(row)) return row
    seal = sealFor(seal, digests)
    sealedSeq = row.seq
    digests = []
    return { ...row, seal }
  })
  return { entries, seal, sealedSeq }
}
