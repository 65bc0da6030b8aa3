import { wrongInput } from '../../core/error/wrong-input.ts'
import { IdLedger } from '../../core/ids.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { WireReference } from '../../core/wire-reference.ts'
import type {
  CallItem,
  CallResult,
  ContentPart,
  HistoryItem,
  MessageItem,
  OpenCallItem,
  ProviderGate,
} from '../../records/history-item.ts'
import { callArguments } from '../events/call-arguments.ts'
import { PairTable } from './pairing.ts'
import { type ProviderKey, providerData } from './provider-data.ts'
import type { DecodeContext } from './wire-adapter.ts'

/** What a decoder knows of one side of a pair. Absent, null and empty ids all mean "no id". */
export interface SideFacts {
  /** The wire type, e.g. `function_call`. */
  readonly type: string
  /** That of a result is used when its call is not in the payload. */
  readonly tool: string
  readonly executedBy: 'runner' | 'provider'
  /** The id that pairs call and result. */
  readonly callId?: string | null | undefined
  /** The id that addresses the stored item; it stands in (`conflated`) when there is no `callId`. */
  readonly itemId?: string | null | undefined
  /** What pairs it with the other side where that carries no id, most exact first, e.g. `name:search`. */
  readonly pairKeys?: readonly string[]
  /** Run here: whatever else must be echoed. */
  readonly data?: JsonValue
  /** Run by the provider: the wire item, verbatim. It is sent back once, from this record. */
  readonly raw?: JsonValue
}

/** What a decoder knows of a call. */
export interface CallFacts extends SideFacts {
  /** Text or object, as received. */
  readonly args: unknown
  /** A hybrid: call and result in one wire item. */
  readonly result?: ResultParts
  readonly gate?: ProviderGate
  /** The conversation continues without its result, which then keeps its own place. */
  readonly mayWait?: boolean
}

/** What a call gave. */
export interface ResultParts {
  readonly isError: boolean
  readonly parts: readonly ContentPart[]
}

/** What a decoder knows of a result. */
export interface ResultFacts extends SideFacts, ResultParts {
  /** Adds to the last settled call under the same key when no call waits. */
  readonly mayExtend?: boolean
}

/** Builds neutral items in wire order: settles results onto calls, keeps ids unique, mints missing ones. */
export class HistoryBuilder {
  readonly #items: HistoryItem[] = []
  readonly #pairs = new PairTable()
  readonly #waiting = new Set<number>()
  readonly #ids: IdLedger
  readonly #key: ProviderKey
  readonly #provider: string
  readonly #context: DecodeContext
  #response: string | undefined
  #responses = 0
  #calls = 0

  constructor(api: string, provider: string, context: DecodeContext) {
    checkPlace(api, provider, context)
    this.#provider = provider
    this.#context = context
    this.#ids = context.ids ?? new IdLedger()
    const { endpoint, modelFamily } = context
    this.#key = {
      api,
      ...(endpoint !== undefined && { endpoint }),
      ...(modelFamily !== undefined && { modelFamily }),
    }
  }

  get items(): readonly HistoryItem[] {
    return this.#items
  }

  /** What follows came from one model response. Without an id it is numbered. */
  startResponse(id?: string | null): void {
    this.#response = present(id) ?? `#${this.#responses}`
    this.#responses++
  }

  /** What follows is input. */
  endResponse(): void {
    this.#response = undefined
  }

  get inResponse(): boolean {
    return this.#response !== undefined
  }

  message(role: MessageItem['role'], parts: readonly ContentPart[], data?: JsonValue): void {
    this.#items.push({ type: 'message', role, parts, ...this.#origin(data) })
  }

  thought(text: string, data?: JsonValue): void {
    this.#items.push({ type: 'thought', text, ...this.#origin(data) })
  }

  raw(value: JsonValue, role?: 'user' | 'assistant'): void {
    const response = this.#response
    this.#items.push({
      type: 'raw',
      api: this.#key.api,
      value,
      ...(role !== undefined && { role }),
      ...(response !== undefined && { response }),
    })
  }

  call(facts: CallFacts): void {
    const { args, rawArgs, fault } = callArguments(facts.args)
    const { tool, executedBy, result, gate } = facts
    const wire = this.#reference(facts)
    const identity = { id: this.#claim(wire, facts.type, tool, args), tool, args, wire }
    const data = facts.raw === undefined ? facts.data : { items: [facts.raw] }
    const index = this.#items.length
    if (executedBy === 'provider' && result === undefined) {
      this.#items.push({
        type: 'openCall',
        ...identity,
        executedBy,
        ...(gate !== undefined && { gate }),
        ...this.#origin(data),
      })
    } else {
      this.#items.push({
        type: 'call',
        ...identity,
        ...(rawArgs !== undefined && { rawArgs }),
        ...(fault !== undefined && { fault }),
        executedBy,
        ...(result !== undefined && { result }),
        ...this.#origin(data),
      })
    }
    if (result === undefined) this.#pairs.open(index, this.#response, keysOf(facts))
    if (facts.mayWait) this.#waiting.add(index)
  }

  result(facts: ResultFacts): void {
    const index = this.#pairs.settle(keysOf(facts), facts.mayExtend === true)
    const { isError, parts, data } = facts
    const echoed = data !== undefined && { providerData: providerData(this.#key, data) }
    const result: CallResult = { isError, parts, ...echoed }
    if (index === undefined || this.#isLate(index)) return this.#resultOnly(facts, result)
    const call = this.#items[index] as CallItem | OpenCallItem
    const outputId = present(facts.itemId)
    const { gate: _, ...rest } = call as OpenCallItem
    const isBehind = index === this.#items.length - 1 && call.response === this.#response
    this.#items[index] = {
      ...rest,
      type: 'call',
      wire: outputId === undefined ? call.wire : { ...call.wire, outputId },
      result: call.type === 'call' ? extended(call.result, result) : result,
      ...(isBehind && this.#withRaw(call, facts.raw)),
    }
    // Unless it comes right after its call, it also keeps its own place, as raw data.
    if (facts.raw !== undefined && !isBehind) this.raw(facts.raw, 'assistant')
  }

  /** Answers a gate that the payload holds; false when it holds none under this id. */
  decide(callId: string, decision: NonNullable<ProviderGate['decision']>): boolean {
    const index = this.#pairs.settle([keyFor('provider', `id:${callId}`)], false)
    const item = index === undefined ? undefined : this.#items[index]
    if (index === undefined || item?.type !== 'openCall' || item.gate === undefined) return false
    this.#items[index] = { ...item, gate: { ...item.gate, decision } }
    return true
  }

  /** True while a call of the provider's with this pairing id waits for its result. */
  isOpen(callId: string | undefined): boolean {
    return callId !== undefined && this.isWaiting('provider', `id:${callId}`)
  }

  /** True while some call of this side waits under this pair key. */
  isWaiting(executedBy: SideFacts['executedBy'], pairKey: string): boolean {
    return this.#pairs.waiting(keyFor(executedBy, pairKey)) !== undefined
  }

  /** True for a call that did not wait for its result: something else came between. */
  #isLate(index: number): boolean {
    if (!this.#waiting.has(index)) return false
    const { response } = this.#items[index] as CallItem
    return this.#items.slice(index + 1).some((item) => item.response !== response)
  }

  #resultOnly(facts: ResultFacts, result: CallResult): void {
    const wire = this.#reference(facts)
    const { tool, executedBy } = facts
    this.#items.push({
      type: 'call',
      id: this.#claim(wire, facts.type, tool, {}),
      tool,
      args: {},
      wire,
      executedBy,
      result,
      resultOnly: true,
      ...this.#origin(facts.raw === undefined ? undefined : { items: [facts.raw] }),
    })
  }

  #withRaw(call: CallItem | OpenCallItem, raw: JsonValue | undefined): object {
    if (raw === undefined) return {}
    const earlier = (call.providerData?.data as { items?: readonly JsonValue[] } | undefined)?.items
    return { providerData: providerData(this.#key, { items: [...(earlier ?? []), raw] }) }
  }

  #origin(data: JsonValue | undefined): Pick<MessageItem, 'response' | 'providerData'> {
    return {
      ...(this.#response !== undefined && { response: this.#response }),
      ...(data !== undefined && { providerData: providerData(this.#key, data) }),
    }
  }

  #reference(facts: SideFacts): WireReference {
    const callId = present(facts.callId)
    const itemId = present(facts.itemId)
    return {
      provider: this.#provider,
      api: this.#key.api,
      type: facts.type,
      ...(callId !== undefined && { callId }),
      ...(itemId !== undefined && { itemId }),
      origin: callId !== undefined ? 'natural' : itemId !== undefined ? 'conflated' : 'synthetic',
    }
  }

  #claim(wire: WireReference, wireType: string, tool: string, args: JsonObject): string {
    const ordinal = this.#calls++
    const natural = wire.callId ?? wire.itemId
    if (natural !== undefined) return this.#ids.claim(natural)
    const response = this.#response?.startsWith('#') ? undefined : this.#response
    const content = canonicalStringify({ tool, args })
    const place = { ordinal, wireType, content, ...(response !== undefined && { response }) }
    return this.#ids.claim(this.#context.mint(place))
  }
}

function checkPlace(api: unknown, provider: unknown, context: unknown): void {
  const refuse = (path: string, rule: string) => wrongInput('HistoryBuilder', path, rule)
  if (typeof api !== 'string') throw refuse('api', 'must be the name of a protocol')
  if (typeof provider !== 'string') throw refuse('provider', 'must be the name of a provider')
  const { mint } = (context ?? {}) as Partial<DecodeContext>
  if (typeof mint !== 'function') throw refuse('context', 'must be what `decode` is given')
}

/** Adds a result to an earlier one of the same call. */
function extended(earlier: CallResult | undefined, result: CallResult): CallResult {
  if (earlier === undefined) return result
  const isError = earlier.isError || result.isError
  return { ...result, isError, parts: [...earlier.parts, ...result.parts] }
}

/** An id that is there: absent, null and empty are not. */
function present(id: string | null | undefined): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}

function keysOf(facts: SideFacts): readonly string[] {
  const callId = present(facts.callId)
  const keys = facts.pairKeys ?? []
  const all = callId === undefined ? keys : [`id:${callId}`, ...keys]
  return all.map((key) => keyFor(facts.executedBy, key))
}

/** The two sides count their ids each for itself: what one of them answers is never the other's call. */
function keyFor(executedBy: SideFacts['executedBy'], key: string): string {
  return `${key}@${executedBy}`
}
