import { IdLedger, type IdSource } from '../../core/ids.ts'
import type { TrustTier } from '../../core/trust.ts'
import { EFFECT_UNKNOWN } from '../../records/effect-unknown.ts'
import type {
  CallItem,
  ContentPart,
  HistoryItem,
  MediaPart,
  MessageItem,
  OpenCallItem,
  ThoughtItem,
} from '../../records/history-item.ts'
import { Message } from '../../records/message.ts'
import { OpenCalls } from '../../records/open-calls.ts'
import { partMedia, partText } from '../../records/part-media.ts'
import type { PlacedMedia } from '../../records/placed-media.ts'
import { providedResults } from '../../records/provided-results.ts'
import { spokenText } from '../../records/spoken-text.ts'
import { Thought } from '../../records/thought.ts'
import { type Settlement, ToolCall } from '../../records/tool-call.ts'
import type { ToolCallResults } from '../../records/tool-call-results.ts'
import { escapeTagName } from '../../text/tag-name.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { SeedRepair } from '../branches.ts'
import type { NewEntry } from '../entry.ts'
import type { SeedSpool } from './seed-spool.ts'

/** An entry whose turn is not known yet. */
export type SeededEntry = {
  [K in NewEntry['kind']]: Omit<NewEntry & { kind: K }, 'turnId'>
}[NewEntry['kind']]

interface Origin {
  readonly createdAt: number
  readonly response?: string
}

/** How a seeded call ended. */
interface SeededEnd {
  readonly settlement: Settlement
  readonly results: ToolCallResults
  readonly media?: readonly PlacedMedia[]
  /** What other providers read of the result of a provider's call. */
  readonly parts: readonly ContentPart[]
}

const textEnd = (settlement: Settlement, text: string): SeededEnd => ({
  settlement,
  results: new Tokenizable(text),
  parts: [{ type: 'text', text }],
})

/** What all items of one history have in common. */
export interface SeedContext {
  readonly trust: TrustTier
  readonly now: number
  readonly ids: IdSource
  readonly spool: SeedSpool
}

const UNANSWERED = `In doubt: the seeded history has no result of this call. ${EFFECT_UNKNOWN}`
const UNFINISHED = 'Abandoned: its provider had not finished this call.'

/** Turns the items of a stranger's history into entries, one by one, and notes what cannot be taken over. */
export class SeedEntries {
  readonly repairs: SeedRepair[] = []
  readonly #context: SeedContext
  readonly #calls = new IdLedger()
  /** The open calls that a later item finishes, by that item. */
  readonly #finished: ReadonlyMap<HistoryItem, OpenCallItem>
  readonly #isFinished: ReadonlySet<OpenCallItem>
  /** The response that the last item came from, and its new name. */
  #response: { readonly given: string | undefined; readonly id: string } | undefined

  constructor(items: readonly HistoryItem[], context: SeedContext) {
    this.#context = context
    this.#finished = finishedIn(items)
    this.#isFinished = new Set(this.#finished.values())
  }

  async of(item: HistoryItem): Promise<readonly SeededEntry[]> {
    const origin = this.#originOf(item)
    switch (item.type) {
      case 'message':
        return this.#message(item, origin)
      case 'thought':
        return this.#thought(item, origin)
      case 'call':
        return this.#call(item, origin)
      case 'openCall':
        return this.#openCall(item, origin)
      default: {
        const { type } = (item.value ?? {}) as { readonly type?: unknown }
        const name = typeof type === 'string' ? type : 'raw'
        return this.#leaveOut(name, 'has no form that every protocol knows')
      }
    }
  }

  /** Responses get names of their own, so that none is taken for one of this store. */
  #originOf(item: HistoryItem): Origin {
    const { response: given } = item
    const isInput = item.type === 'message' && item.role !== 'assistant'
    if (isInput) this.#response = undefined
    else if (this.#response === undefined || this.#response.given !== given) {
      this.#response = { given, id: this.#context.ids() }
    }
    return {
      createdAt: this.#context.now,
      ...(this.#response && { response: this.#response.id }),
    }
  }

  async #message(item: MessageItem, origin: Origin): Promise<readonly SeededEntry[]> {
    const { role, parts } = item
    if (role === 'system')
      return this.#leaveOut('message', 'is of the role system: instructions are not taken over')
    const media = parts.filter((part) => part.type === 'media')
    const attachments = role === 'user' ? await this.#attachments(media) : []
    if (role === 'assistant') for (const part of media) this.#mediaLeftOut(part)
    const said = spokenText(parts)
    // What the model said is shown outside of envelopes, so it must not spell one.
    const content = role === 'assistant' ? escapeTagName(said) : said
    if (content === '' && attachments.length === 0) return this.#leaveOut('message', 'is empty')
    const message = new Message({
      id: this.#context.ids(),
      role,
      ...(content !== '' && { content }),
      attachments,
      ...origin,
    })
    return [{ kind: 'message', data: message.toJSON() }]
  }

  async #attachments(parts: readonly MediaPart[]) {
    const { trust, spool } = this.#context
    const attachments = []
    for (const part of parts) {
      const media = partMedia(part, trust)
      if (media === undefined) this.#mediaLeftOut(part)
      else attachments.push(await media.spooled(spool))
    }
    return attachments
  }

  #thought({ text }: ThoughtItem, origin: Origin): readonly SeededEntry[] {
    if (text === '') return this.#leaveOut('thought', 'has nothing that can be read')
    const thought = new Thought({ id: this.#context.ids(), content: text, ...origin })
    return [{ kind: 'thought', data: thought.toJSON() }]
  }

  /** A call that a provider finished later has its place there. */
  #openCall(item: OpenCallItem, origin: Origin): readonly SeededEntry[] {
    if (this.#isFinished.has(item)) return []
    this.#report('missing-result', item.id, 'was not finished by its provider: it is abandoned')
    return this.#settled(item, origin, textEnd('abandoned', UNFINISHED))
  }

  async #call(item: CallItem, origin: Origin): Promise<readonly SeededEntry[]> {
    const open = this.#finished.get(item)
    if (item.resultOnly && open === undefined) {
      const message = 'is the result of a call that the history does not have'
      this.#report('stray-result', item.id, message)
      return []
    }
    const { tool, args } = (item.resultOnly && open) || item
    const call = { ...item, tool, args }
    if (item.result !== undefined) {
      const settlement = item.result.isError ? 'failed' : 'ok'
      const { trust, spool } = this.#context
      const provided = await providedResults(item.result, spool, trust)
      const parts = item.result.parts.map(
        (part) => ({ type: 'text', text: partText(part) }) as const,
      )
      return this.#settled(call, origin, { settlement, ...provided, parts })
    }
    this.#report('missing-result', item.id, 'has no result: it is in doubt')
    return this.#settled(call, origin, textEnd('in-doubt', UNANSWERED))
  }

  /** The call as it was asked for, and its record. */
  #settled(
    { id: given, tool, args, wire, executedBy }: CallItem | OpenCallItem,
    { createdAt, response }: Origin,
    { parts, ...end }: SeededEnd,
  ): readonly SeededEntry[] {
    const record = new ToolCall({
      id: this.#calls.claim(given),
      tool,
      args,
      ...end,
      isComplete: true,
      isError: end.settlement !== 'ok',
      executedBy,
      trust: this.#context.trust,
      wire,
      createdAt,
      completedAt: createdAt,
    })
    const { id, args: plain } = record
    const asked = { type: 'call', id, tool, args: plain, wire, executedBy } as const
    const item = { ...asked, ...(response !== undefined && { response }) }
    const isOwn = executedBy === 'runner'
    const result = isOwn ? undefined : { isError: record.isError, parts }
    return [
      { kind: 'history-item', data: { ...item, ...(result && { result }) } },
      { kind: 'settlement', data: record.toJSON() },
    ]
  }

  #mediaLeftOut({ kind, source }: MediaPart): void {
    const message = `refers to a file that is elsewhere (${source.type}), or cannot be read`
    this.#report('left-out', kind, message)
  }

  #leaveOut(item: string, message: string): readonly SeededEntry[] {
    this.#report('left-out', item, message)
    return []
  }

  #report(kind: SeedRepair['kind'], item: string, message: string): void {
    this.repairs.push({ kind, item, message: `\`${item}\` ${message}.` })
  }
}

/** The open calls of providers that later items finish. */
function finishedIn(items: readonly HistoryItem[]): ReadonlyMap<HistoryItem, OpenCallItem> {
  const open = new OpenCalls()
  const finished = new Map<HistoryItem, OpenCallItem>()
  for (const item of items) {
    open.see(item)
    const settles =
      item.type === 'call' && item.executedBy === 'provider' ? open.take(item) : undefined
    if (settles !== undefined) finished.set(item, settles)
  }
  return finished
}
