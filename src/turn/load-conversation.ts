import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import type { CallItem, HistoryItem, OpenCallItem } from '../records/history-item.ts'
import { Message } from '../records/message.ts'
import { Thought } from '../records/thought.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { Entry, EntryOf } from '../store/entry.ts'
import { Conversation, type ConversationParts } from './conversation.ts'
import { type LogFacts, readLog, shownId, unsettledEdit } from './conversation-log.ts'
import { itemForThought, OWN_WIRE } from './item-records.ts'
import { withResult } from './settled-item.ts'

/** Reads the log of a conversation from the start. */
export async function loadConversation(
  id: string,
  epoch: number,
  parts: ConversationParts,
): Promise<Conversation> {
  const { store, results, artifacts } = parts
  const context = { spool: results, ...(artifacts && { artifacts }) }
  const facts = await readLog(store.entries(id), (json) => ToolCall.fromJSON(json, context))
  const { tail, recent, taint, calls, entries, intents } = facts
  const gates = await store.openGates(id)
  const conversation = new Conversation(id, epoch, parts, { tail, recent, gates })
  conversation.lowerTrust(taint)
  for (const call of calls) {
    conversation.callIds.claim(call.id)
    conversation.admit(call)
  }
  const replay = new LogReplay(conversation, facts, context)
  for (const entry of entries) await replay.take(entry)
  for (const [callId, intent] of intents) {
    claimOnce(conversation, callId)
    const asked = conversation.unsettled.get(callId) ?? unsettledEdit(facts, callId)
    if (asked !== undefined) conversation.unsettled.set(callId, { ...asked, intent })
  }
  if (conversation.unsettled.size === 0) conversation.flush()
  return conversation
}

/** Puts what a log tells of in its place, entry by entry. */
class LogReplay {
  readonly #conversation: Conversation
  readonly #facts: LogFacts
  readonly #context: RestoreContext
  /** Which calls have their item. */
  readonly #placed = new Set<string>()

  constructor(conversation: Conversation, facts: LogFacts, context: RestoreContext) {
    this.#conversation = conversation
    this.#facts = facts
    this.#context = context
  }

  async take(entry: Entry): Promise<void> {
    if (entry.kind === 'message') {
      await this.#conversation.say(Message.fromJSON(entry.data, this.#context))
    } else if (entry.kind === 'thought') {
      this.#conversation.place(itemForThought(Thought.fromJSON(entry.data)))
    } else if (entry.kind === 'history-item') await this.#takeItem(entry)
    else if (entry.kind === 'settlement') await this.#takeRecord(entry)
  }

  async #takeItem(entry: EntryOf<'history-item'>): Promise<void> {
    const { id, ...rest } = entry.data
    const item = rest as HistoryItem
    this.#placed.add(id)
    if (item.type === 'openCall') this.#takeOpen({ ...item, id })
    else if (item.type === 'call') await this.#takeCall({ ...item, id }, entry)
    else this.#conversation.place(item)
  }

  async #takeCall(asked: CallItem, { turnId, time: askedAt, redacted }: Entry): Promise<void> {
    const { id } = asked
    claimOnce(this.#conversation, id)
    const call = this.#facts.shown.get(id)
    if (asked.executedBy === 'provider') this.#conversation.openCalls.take(asked)
    else if (call !== undefined) return this.#placeSettled(asked, call)
    else {
      const unsettled = { item: asked, turnId, askedAt, ...(redacted && { redacted }) }
      this.#conversation.unsettled.set(id, unsettled)
    }
    this.#conversation.place(asked)
  }

  #takeOpen(item: OpenCallItem): void {
    claimOnce(this.#conversation, item.id)
    const decision = item.gate && this.#facts.decisions.get(item.id)
    const placed = decision ? { ...item, gate: { ...item.gate, decision } } : item
    if (!this.#facts.shown.has(item.id)) this.#conversation.openCalls.see(placed)
    this.#conversation.place(placed)
  }

  /** A record whose call no item tells of, as in an imported conversation, stands where it settled. */
  async #takeRecord({ data }: EntryOf<'settlement'>): Promise<void> {
    const { tool, args, wire = OWN_WIRE, executedBy, ...asked } = data as unknown as ToolCall
    const id = shownId(asked)
    const call = this.#facts.shown.get(id)
    if (this.#placed.has(id) || call === undefined) return
    this.#placed.add(id)
    await this.#placeSettled({ type: 'call', id, tool, args, wire, executedBy }, call)
  }

  async #placeSettled(item: CallItem, call: ToolCall): Promise<void> {
    const result = await this.#conversation.show(call, this.#facts.notes.get(item.id))
    this.#conversation.place(withResult(item, result))
  }
}

function claimOnce({ callIds }: Conversation, id: string): void {
  if (!callIds.has(id)) callIds.claim(id)
}
