import type { JsonObject } from '../core/json.ts'
import { lowerTrust, TRUST_TIERS, type TrustTier } from '../core/trust.ts'
import type { CallItem, ProviderGate } from '../records/history-item.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Entry, Intent, NewEntry } from '../store/entry.ts'
import type { GateDecision } from '../store/gate.ts'
import { OWN_WIRE } from './item-records.ts'
import { EMPTY_TAIL, type LogTail, nextTail } from './log-tail.ts'

/** A call that was asked for and has not settled: it waits for a gate, or its process died. */
export interface UnsettledCall {
  readonly item: CallItem
  readonly turnId: string
  /** Epoch milliseconds. */
  readonly askedAt: number
  readonly intent?: Intent
  /** Paths of what was removed from its arguments before storing. */
  readonly redacted?: readonly string[]
}

/** What a first reading of a log finds out, before its items are put in their places. */
export interface LogFacts {
  readonly entries: readonly Entry[]
  /** The records in the order in which they settled. */
  readonly calls: readonly ToolCall[]
  /** The record that the model is shown for each call: what a person or a reconciliation made of it. */
  readonly shown: ReadonlyMap<string, ToolCall>
  /** What is told beside a result, by call. */
  readonly notes: ReadonlyMap<string, string>
  /** How gates on providers' calls were decided, by call. */
  readonly decisions: ReadonlyMap<string, NonNullable<ProviderGate['decision']>>
  /** Intents whose calls have no record. */
  readonly intents: ReadonlyMap<string, Intent>
  /** The checksums of the calls that settled since the user last said something. */
  readonly recent: readonly string[]
  /** The least trusted content that the log tells of and no record holds. */
  readonly taint: TrustTier
  readonly tail: LogTail
}

/** The id under which a record is shown: the call that the model asked for. */
export const shownId = ({
  id,
  editOf,
  supersedes,
}: Pick<ToolCall, 'id' | 'editOf' | 'supersedes'>): string => editOf ?? supersedes ?? id

/** Reads a log from the start. */
export async function readLog(
  log: AsyncIterable<Entry>,
  restore: (json: JsonObject) => ToolCall,
): Promise<LogFacts> {
  const entries: Entry[] = []
  const calls: ToolCall[] = []
  const shown = new Map<string, ToolCall>()
  const notes = new Map<string, string>()
  const decisions = new Map<string, NonNullable<ProviderGate['decision']>>()
  const gated = new Map<string, string>()
  const intents = new Map<string, Intent>()
  let recent: string[] = []
  let taint: TrustTier = 'developer'
  let tail = EMPTY_TAIL
  for await (const entry of log) {
    entries.push(entry)
    tail = nextTail(tail, entry)
    if (entry.kind === 'intent') intents.set(entry.data.id, entry.data)
    else if (entry.kind === 'note') {
      keepNote(notes, entry)
      taint = lowerTrust(taint, taintOf(entry))
    } else if (entry.kind === 'gate-opened') gated.set(entry.data.id, entry.data.callId ?? '')
    else if (entry.kind === 'gate-closed') {
      const { id, decision } = entry.data
      decisions.set(gated.get(id) ?? '', providerDecision(decision))
    } else if (entry.kind === 'settlement') {
      const call = restore(entry.data)
      calls.push(call)
      shown.set(shownId(call), call)
      // What was found out about a call later is no other call.
      const isAsked = call.executedBy === 'runner' && call.supersedes === undefined
      if (isAsked) recent.push(call.checksum)
    } else if (entry.kind === 'message' && entry.data['role'] === 'user') recent = []
  }
  for (const { id } of calls) intents.delete(id)
  return { entries, calls, shown, notes, decisions, intents, recent, taint, tail }
}

const CALL_NOTE = 'CALL_NOTE'

/** Keeps what the model is told beside a result, so that it reads the same after a restart. */
export function callNote(turnId: string, toolCallId: string, message: string): NewEntry {
  return {
    kind: 'note',
    turnId,
    data: { level: 'info', code: CALL_NOTE, message, data: { toolCallId } },
  }
}

function keepNote(notes: Map<string, string>, { data }: Entry & { kind: 'note' }): void {
  const about = data.data as { readonly toolCallId?: string } | undefined
  if (data.code === CALL_NOTE && about?.toolCallId !== undefined) {
    notes.set(about.toolCallId, data.message)
  }
}

const TAINT = 'TAINT'

/** Tells the log of content that no record holds, and that everything from here on may rest on. */
export function taintNote(turnId: string, trust: TrustTier): NewEntry {
  const message = `The model was shown ${trust} content that is in no record.`
  return { kind: 'note', turnId, data: { level: 'info', code: TAINT, message, data: { trust } } }
}

/** What cannot be read of such a note any more counts as the least trusted. */
function taintOf({ data }: Entry & { kind: 'note' }): TrustTier {
  if (data.code !== TAINT) return 'developer'
  const { trust } = (data.data ?? {}) as { readonly trust?: TrustTier }
  return TRUST_TIERS.find((tier) => tier === trust) ?? 'third-party'
}

/** A decision in the words of the provider's own request; a gate that nobody decided was declined. */
export function providerDecision(
  decision: GateDecision | undefined,
): NonNullable<ProviderGate['decision']> {
  const approved = decision?.verdict === 'approved' || decision?.verdict === 'edited'
  const reason = decision === undefined ? 'Nobody decided in time.' : decision.comment
  return { approved, ...(reason !== undefined && { reason }) }
}

/** A call that a person had changed when its process ended: only its intent tells of it. */
export function unsettledEdit(
  { intents, entries }: LogFacts,
  id: string,
): UnsettledCall | undefined {
  const intent = intents.get(id)
  const at = entries.find((entry) => entry.kind === 'intent' && entry.data.id === id)
  if (intent?.editOf === undefined || at === undefined) return undefined
  const { tool, args, wire = OWN_WIRE } = intent
  const item: CallItem = { type: 'call', id, tool, args, wire, executedBy: 'runner' }
  const { turnId, time: askedAt, redacted } = at
  return { item, turnId, askedAt, ...(redacted && { redacted }) }
}
