import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import { IdLedger } from '../core/ids.ts'
import { lowerTrust, type TrustTier } from '../core/trust.ts'
import { growingHistory, replaceItem } from '../records/growing-history.ts'
import type { CallItem, CallResult, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import type { Message } from '../records/message.ts'
import { OpenCalls } from '../records/open-calls.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { APPENDED } from '../store/appended.ts'
import type { NewEntry } from '../store/entry.ts'
import type { Gate } from '../store/gate.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import type { Store, StoredBlob } from '../store/store.ts'
import { callNote, type LogFacts, shownId, type UnsettledCall } from './conversation-log.ts'
import { editNote } from './edit-note.ts'
import { GroupCommit } from './group-commit.ts'
import { EMPTY_TAIL, type LogTail } from './log-tail.ts'
import type { Presentation, ShownCall } from './presentation.ts'
import { digestsOf, holdsArtifacts, indexOfCall, mediaTiers, withResult } from './settled-item.ts'
import type { ResultSpool } from './small-results.ts'
import { storeFailure } from './store-failure.ts'

export interface ConversationParts {
  readonly store: Store
  readonly results: ResultSpool
  readonly presentation: Presentation
  readonly artifacts?: RestoreContext['artifacts']
}

/** What is known of a log from when it was opened. */
export interface OpenedLog extends Pick<LogFacts, 'tail' | 'recent'> {
  readonly gates: readonly Gate[]
}

/**
 * A conversation while a turn works on it: what the log holds, in the form that the models take. It
 * is read once when it is opened and only grows from there; no step walks it again.
 */
export class Conversation {
  readonly id: string
  readonly epoch: number
  /** Before the id of a call it makes the key of its attempts; made once for all of them. */
  readonly keyPrefix: string
  /** Everything that is settled, in order. */
  readonly items = growingHistory()
  /** The settled calls, oldest first. */
  readonly calls: ToolCall[] = []
  /** Those whose results are artifacts that a model may query, as far as requests show them. */
  artifactCalls: ToolCall[] = []
  /** The ids of the calls that requests no longer show, and the other calls; absent as long as all are shown. */
  #hidden: Set<string> | undefined
  #shown: ToolCall[] | undefined
  readonly #byId = new Map<string, ToolCall>()
  /** How many of the calls are in it: few turns ask for one by its id. */
  #indexed = 0
  readonly callIds = new IdLedger()
  readonly openCalls = new OpenCalls()
  /** A response whose calls have not all settled, in wire order. */
  #batch: HistoryItem[] = []
  readonly unsettled = new Map<string, UnsettledCall>()
  readonly gates: readonly Gate[]
  /** What the log says was called since the user last spoke, by checksum. */
  readonly recent: readonly string[]
  /** The calls whose results are shown as handles, by the id under which they are shown. */
  readonly handles = new Set<string>()
  /** The least trusted output that the conversation has seen; it never rises again. */
  taint: TrustTier = 'developer'
  /** What lowered it and is in no record: the log has yet to be told. */
  #untold: TrustTier | undefined
  /** How the log ended when it was opened. */
  readonly tail: LogTail
  readonly #parts: ConversationParts
  readonly #group = new GroupCommit((entries, blobs) =>
    // As the store says it: what it does not take of several may be one of them.
    Promise.resolve(this.#parts.store.append(this.id, this.epoch, entries, blobs, UNREAD)),
  )

  constructor(id: string, epoch: number, parts: ConversationParts, log: OpenedLog = NEW_LOG) {
    this.id = id
    this.epoch = epoch
    this.keyPrefix = `${id}/`
    this.#parts = parts
    this.tail = log.tail
    this.recent = log.recent
    this.gates = log.gates
  }

  /** Puts an item in its place. Behind an unsettled call everything of its response waits too. */
  place(item: HistoryItem): void {
    const [first] = this.#batch
    const isUnsettled = item.type === 'call' && this.unsettled.has(item.id)
    const holdsBack = isUnsettled || (first !== undefined && item.response === first.response)
    ;(holdsBack ? this.#batch : this.items).push(item)
  }

  /** Puts in its place what somebody said; what a message brings along may be a stranger's. */
  async say(message: Message): Promise<void> {
    for (const { trustTier } of message.attachments) this.lowerTrust(trustTier)
    this.place(await this.#parts.presentation.message(message))
  }

  /** Takes note of a settled call. */
  admit(call: ToolCall): void {
    this.calls.push(call)
    const isHidden = this.#hidden?.has(shownId(call)) ?? false
    if (!isHidden) this.#shown?.push(call)
    // Media say themselves who vouches for them, whatever is thought of the tool that gave them.
    if (!holdsArtifacts(call)) for (const tier of mediaTiers(call)) this.lowerTrust(tier)
    else if (!call.fromArtifactTool && !isHidden) this.artifactCalls.push(call)
    this.lowerTrust(call.trust)
  }

  /** The settled calls that requests show, oldest first. */
  get shownCalls(): readonly ToolCall[] {
    return this.#shown ?? this.calls
  }

  /** Takes note that requests no longer show these calls. What they gave stays where it is. */
  hide(ids: readonly string[]): void {
    if (ids.length === 0) return
    const hidden = (this.#hidden ??= new Set())
    for (const id of ids) {
      hidden.add(id)
      this.handles.delete(id)
    }
    const isShown = (call: ToolCall) => !hidden.has(shownId(call))
    this.#shown = this.shownCalls.filter(isShown)
    this.artifactCalls = this.artifactCalls.filter(isShown)
  }

  /** Whether calls of a response have not settled. */
  get isWaiting(): boolean {
    return this.#batch.length > 0
  }

  /** The record that the model is shown for a call. */
  call(id: string): ToolCall | undefined {
    for (; this.#indexed < this.calls.length; this.#indexed++) {
      const call = this.calls[this.#indexed] as ToolCall
      this.#byId.set(shownId(call), call)
    }
    return this.#byId.get(id)
  }

  /** The last call with this id that its provider has not ended. */
  openCall(id: string | undefined): OpenCallItem | undefined {
    const isIt = (item: HistoryItem) => item.type === 'openCall' && item.id === id
    const found = this.#batch.findLast(isIt) ?? this.items.findLast(isIt)
    return found as OpenCallItem | undefined
  }

  /** Puts another item in the place of one. */
  replace(item: HistoryItem, by: HistoryItem): void {
    const list = this.#batch.includes(item) ? this.#batch : this.items
    replaceItem(list, list.lastIndexOf(item), by)
  }

  /** Takes note of content of this tier. */
  lowerTrust(tier: TrustTier): void {
    this.taint = lowerTrust(this.taint, tier)
  }

  /** Takes note of content that no record holds: what stands beside the history, or the turn around this one saw. */
  lowerTrustUnrecorded(tier: TrustTier): void {
    const before = this.taint
    this.lowerTrust(tier)
    if (this.taint !== before) this.#untold = tier
  }

  /** What the log has to be told of, once. */
  takeUntold(): TrustTier | undefined {
    const tier = this.#untold
    this.#untold = undefined
    return tier
  }

  /** Adds entries to the log. Gives nothing to wait for where they are in it at once. */
  append(
    entries: readonly NewEntry[],
    blobs?: readonly StoredBlob[],
  ): Promise<unknown> | undefined {
    let appending: Promise<unknown>
    try {
      appending = this.#parts.store.append(this.id, this.epoch, entries, blobs, UNREAD)
    } catch (error) {
      throw storeFailure(error)
    }
    // A store of another realm gives promises of its own, which nobody here would take for one.
    return appending === APPENDED ? undefined : Promise.resolve(appending).catch(storeFailed)
  }

  /** Adds a settled call to the log, with what the model is told beside it; `settled` makes it visible. */
  record(
    call: ToolCall,
    turnId: string,
    extra: readonly NewEntry[],
    note: string | undefined,
  ): Promise<unknown> | undefined {
    const entries: NewEntry[] = [LastingEntry.settlement(turnId, call), ...extra]
    if (note !== undefined) entries.push(callNote(turnId, shownId(call), note))
    const blobs = this.#blobsOf([call])
    // A call that runs alone has nobody to wait for, and memory nothing to gain.
    const isShared = this.#batch.length > 1 && this.#parts.store.durable
    return isShared
      ? this.#group.add(entries, blobs).catch(storeFailed)
      : this.append(entries, blobs)
  }

  /** Adds a response to the log, with the small results of the records among its entries. */
  begin(
    batch: HistoryItem[],
    entries: readonly NewEntry[],
    calls: readonly ToolCall[],
  ): Promise<unknown> | undefined {
    this.#batch = batch
    return this.append(entries, this.#blobsOf(calls))
  }

  /** The small results that no settlement has committed yet. */
  #blobsOf(calls: readonly ToolCall[]): readonly StoredBlob[] | undefined {
    let blobs: StoredBlob[] | undefined
    for (let at = 0; at < calls.length; at++) {
      for (const digest of digestsOf(calls[at] as ToolCall)) {
        const blob = this.#parts.results.uncommitted(digest)
        if (blob === undefined) continue
        if (blobs === undefined) blobs = [blob]
        else blobs.push(blob)
      }
    }
    return blobs
  }

  /** Takes in a call whose record is in the log already, at once where its result need not be read. */
  settled(call: ToolCall, note?: string): Promise<void> | undefined {
    for (const digest of digestsOf(call)) this.#parts.results.committed(digest)
    if (this.unsettled.size > 0) this.unsettled.delete(call.id)
    this.admit(call)
    if (call.executedBy === 'provider') return undefined
    const id = shownId(call)
    const inBatch = indexOfCall(this.#batch, id)
    // What a person or a reconciliation makes of a call later takes the place of what was shown for it.
    const isLater = call.editOf !== undefined || call.supersedes !== undefined
    const at = inBatch === -1 && isLater ? indexOfCall(this.items, id) : inBatch
    if (at === -1) return undefined
    const list = inBatch === -1 ? this.items : this.#batch
    const asked = list[at] as CallItem
    const take = (shown: ShownCall) =>
      replaceItem(list, at, withResult(asked, this.#told(call, shown, note)))
    const showing = this.#parts.presentation.call(call)
    if (showing instanceof Promise) return showing.then(take)
    take(showing)
    return undefined
  }

  /** A finished batch becomes part of the history. */
  flush(): void {
    this.items.push(...this.#batch)
    this.#batch = []
  }

  /** How a settled call looks to the model. What is shown as a handle needs tools to read it. */
  async show(call: ToolCall, note?: string): Promise<CallResult> {
    return this.#told(call, await this.#parts.presentation.call(call), note)
  }

  #told(call: ToolCall, { result, hasHandle }: ShownCall, note: string | undefined): CallResult {
    if (hasHandle) this.handles.add(shownId(call))
    const edited = editNote(call)
    if (edited === undefined && note === undefined) return result
    const notes = [edited, note].flatMap((text) => text ?? [])
    const told = notes.map((text) => ({ type: 'text', text }) as const)
    return { ...result, parts: [...result.parts, ...told] }
  }
}

const NEW_LOG: OpenedLog = { tail: EMPTY_TAIL, recent: [], gates: [] }

const storeFailed = (error: unknown) => {
  throw storeFailure(error)
}

/** Nobody looks at the entries that an append gives back. */
const UNREAD = { readBack: false }
