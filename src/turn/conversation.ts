import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import { IdLedger } from '../core/ids.ts'
import { lowerTrust, type TrustTier } from '../core/trust.ts'
import type { CallItem, CallResult, HistoryItem } from '../records/history-item.ts'
import { Message } from '../records/message.ts'
import { Thought } from '../records/thought.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { Entry, Intent, NewEntry } from '../store/entry.ts'
import type { Gate } from '../store/gate.ts'
import type { Store } from '../store/store.ts'
import { itemForThought } from './item-records.ts'
import type { Presentation } from './presentation.ts'
import type { ResultSpool } from './small-results.ts'

/** A call that was asked for and has not settled: it waits for a gate, or its process died. */
export interface UnsettledCall {
  readonly item: CallItem
  readonly turnId: string
  /** Epoch milliseconds. */
  readonly askedAt: number
  readonly intent?: Intent
}

export interface ConversationParts {
  readonly store: Store
  readonly results: ResultSpool
  readonly presentation: Presentation
  readonly artifacts?: RestoreContext['artifacts']
}

/**
 * A conversation while a turn works on it: what the log holds, in the form that the models take. It
 * is read once when it is opened and only grows from there; no step walks it again.
 */
export class Conversation {
  readonly id: string
  readonly epoch: number
  readonly key: Uint8Array
  /** Everything that is settled, in order. */
  readonly items: HistoryItem[] = []
  /** The settled calls, oldest first. */
  readonly calls: ToolCall[] = []
  readonly #byId = new Map<string, ToolCall>()
  readonly ids = new IdLedger()
  /** A response whose calls have not all settled, in wire order. */
  batch: HistoryItem[] = []
  readonly unsettled = new Map<string, UnsettledCall>()
  gates: readonly Gate[] = []
  /** How many results are shown as handles. */
  handles = 0
  /** The least trusted output that the conversation has seen; it never rises again. */
  taint: TrustTier = 'developer'
  readonly #parts: ConversationParts

  constructor(id: string, epoch: number, key: Uint8Array, parts: ConversationParts) {
    this.id = id
    this.epoch = epoch
    this.key = key
    this.#parts = parts
  }

  /** Reads the log from the start. */
  async load(): Promise<this> {
    const settled = new Map<string, ToolCall>()
    const log: Entry[] = []
    for await (const entry of this.#parts.store.entries(this.id)) {
      if (entry.kind === 'settlement') {
        const call = this.restore(entry.data)
        // What a person or a reconciliation made of a call later is what the model is shown for it.
        settled.set(call.editOf ?? call.supersedes ?? call.id, call)
        this.#admit(call)
      }
      if (entry.kind === 'intent') this.ids.claim(entry.data.id)
      log.push(entry)
    }
    for (const entry of log) await this.#replay(entry, settled)
    this.gates = await this.#parts.store.openGates(this.id)
    if (this.unsettled.size === 0) this.flush()
    return this
  }

  async #replay(entry: Entry, settled: ReadonlyMap<string, ToolCall>): Promise<void> {
    if (entry.kind === 'message') {
      const message = Message.fromJSON(entry.data, this.#context)
      this.#place(await this.#parts.presentation.message(message))
    } else if (entry.kind === 'thought') {
      this.#place(itemForThought(Thought.fromJSON(entry.data)))
    } else if (entry.kind === 'history-item') {
      const { id, ...item } = entry.data as unknown as HistoryItem & { readonly id: string }
      await this.#replayItem(id, item as HistoryItem, entry, settled)
    } else if (entry.kind === 'intent') {
      const waiting = this.unsettled.get(entry.data.id)
      if (waiting !== undefined) {
        this.unsettled.set(entry.data.id, { ...waiting, intent: entry.data })
      }
    }
  }

  async #replayItem(
    id: string,
    item: HistoryItem,
    entry: Entry,
    settled: ReadonlyMap<string, ToolCall>,
  ): Promise<void> {
    if (item.type !== 'call') return this.#place(item.type === 'openCall' ? { ...item, id } : item)
    const asked: CallItem = { ...item, id }
    this.ids.claim(id)
    const call = settled.get(id)
    if (call === undefined) {
      this.unsettled.set(id, { item: asked, turnId: entry.turnId, askedAt: entry.time })
      this.batch.push(asked)
      return
    }
    this.#place({ ...asked, result: await this.#show(call) })
  }

  /** Behind an unsettled call everything of its response waits too. */
  #place(item: HistoryItem): void {
    const holdsBack = this.batch.length > 0 && item.response === this.batch[0]?.response
    ;(holdsBack ? this.batch : this.items).push(item)
  }

  /** Takes note of a settled call. */
  #admit(call: ToolCall): void {
    this.calls.push(call)
    this.#byId.set(call.editOf ?? call.supersedes ?? call.id, call)
    this.lowerTrust(call.trust)
  }

  /** The record that the model is shown for a call. */
  call(id: string): ToolCall | undefined {
    return this.#byId.get(id)
  }

  /** Takes note of content of this tier. */
  lowerTrust(tier: TrustTier): void {
    this.taint = lowerTrust(this.taint, tier)
  }

  /** Adds entries to the log. */
  append(entries: readonly NewEntry[], blobs?: readonly Uint8Array[]): Promise<readonly Entry[]> {
    return this.#parts.store.append(this.id, this.epoch, entries, blobs)
  }

  /** Records a settled call: durable first, then visible. */
  async settle(call: ToolCall, extra: readonly NewEntry[], turnId: string): Promise<void> {
    const blobs = this.#blobsOf(call)
    const entry: NewEntry = { kind: 'settlement', turnId, data: call.toJSON() }
    await this.append([entry, ...extra], blobs.bytes)
    for (const digest of blobs.digests) this.#parts.results.committed(digest)
    this.unsettled.delete(call.id)
    this.#admit(call)
    const result = await this.#show(call)
    const shownFor = call.editOf ?? call.id
    const at = this.batch.findIndex((item) => item.type === 'call' && item.id === shownFor)
    const asked = this.batch[at] as CallItem | undefined
    if (asked !== undefined) this.batch[at] = { ...asked, result }
  }

  #blobsOf({ results }: ToolCall) {
    const bytes: Uint8Array[] = []
    const digests: string[] = []
    for (const part of [results].flat() as readonly { readonly digest?: string }[]) {
      const { digest } = part
      const blob = digest === undefined ? undefined : this.#parts.results.uncommitted(digest)
      if (blob === undefined || digest === undefined) continue
      bytes.push(blob)
      digests.push(digest)
    }
    return { bytes, digests }
  }

  /** A finished batch becomes part of the history. */
  flush(): void {
    this.items.push(...this.batch)
    this.batch = []
  }

  /** How a settled call looks to the model. What is shown as a handle needs tools to read it. */
  async #show(call: ToolCall): Promise<CallResult> {
    const { result, hasHandle } = await this.#parts.presentation.call(call)
    if (hasHandle) this.handles++
    return result
  }

  restore(json: unknown): ToolCall {
    return ToolCall.fromJSON(json, this.#context)
  }

  get #context(): RestoreContext {
    const { results, artifacts } = this.#parts
    return { spool: results, ...(artifacts && { artifacts }) }
  }
}
