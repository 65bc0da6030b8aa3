import type { ModelEvent } from '../../model/events/model-event.ts'
import type { ProviderDefinition, WireFixture } from '../../model/provider-definition.ts'
import { wireModel } from '../../model/wire-model.ts'
import { type Decoded, type HistoryItem, type Wire, wire } from '../../wire/index.ts'

/** What a check gets to work with. */
export interface ModelCheckContext {
  readonly definition: ProviderDefinition
  readonly fixtures: readonly WireFixture[]
  readonly others: readonly ProviderDefinition[]
  /** Into how many places a stream is cut, at most. */
  readonly cuts: number
}

/** A named fact, not yet bound to a definition. */
export interface ModelCheck {
  readonly name: string
  run(context: ModelCheckContext): Promise<void> | void
}

const SECRET = new Uint8Array(32).fill(7)

/** The codec of a protocol, with a fixed secret. */
export const codecOf = (definition: ProviderDefinition, secret = SECRET): Wire =>
  wire(definition, { secret })

/** What a fixture holds. */
export function decoded(
  definition: ProviderDefinition,
  { kind, payload, events }: WireFixture,
  secret = SECRET,
): Decoded {
  const codec = codecOf(definition, secret)
  return kind === 'stream' ? codec.decodeStream(events ?? []) : codec.decode(payload)
}

/** The fixtures that are streams. */
export const streamsOf = ({ fixtures }: ModelCheckContext): readonly WireFixture[] =>
  fixtures.filter(({ kind }) => kind === 'stream')

/** The list in what `encode` gave, whatever it is called. */
export function listOf(definition: ProviderDefinition, part: object): readonly unknown[] {
  const member = definition.history?.member
  const list: unknown = member === undefined ? undefined : Reflect.get(part, member)
  const found = list ?? Object.values(part).find(Array.isArray)
  return Array.isArray(found) ? found : []
}

/** The events of a stream as its server would send them. */
export function framesOf(
  { loopback }: ProviderDefinition,
  { events = [] }: WireFixture,
): readonly Uint8Array[] {
  const frame = loopback?.frame ?? ((event: unknown) => `data: ${JSON.stringify(event)}\n\n`)
  const bytes = (data: string | Uint8Array) =>
    typeof data === 'string' ? new TextEncoder().encode(data) : data
  const { trailer } = loopback ?? {}
  return [...events.map((event) => bytes(frame(event))), ...(trailer ? [bytes(trailer)] : [])]
}

/** What a response gives: its events, or those before the error. */
export interface Outcome {
  readonly events: readonly ModelEvent[]
  readonly finish: Extract<ModelEvent, { type: 'finish' }> | undefined
  readonly error?: unknown
}

/** Reads a response as a model would, from pieces of its body. */
export async function answered(
  definition: ProviderDefinition,
  pieces: readonly Uint8Array[],
  { status = 200, isStream = true } = {},
): Promise<Outcome> {
  const type = isStream
    ? (definition.loopback?.contentType ?? 'text/event-stream')
    : 'application/json'
  const model = wireModel(definition, {
    model: 'm',
    stream: isStream,
    send: () =>
      Promise.resolve(new Response(bodyOf(pieces), { status, headers: { 'content-type': type } })),
  })
  const events: ModelEvent[] = []
  const finish = () => events.find((event) => event.type === 'finish')
  try {
    for await (const event of model.stream({ items: [QUESTION] }, { mint })) events.push(event)
  } catch (error) {
    return { events, finish: finish(), error }
  }
  return { events, finish: finish() }
}

/** The same id for the same place, so that two readings can be compared. */
const mint = ({ ordinal }: { readonly ordinal: number }) => `minted_${ordinal}`

function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) if (piece.length > 0) controller.enqueue(piece)
      controller.close()
    },
  })
}

/** What a user asks. */
export const QUESTION: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'And now?' }],
}

/** All pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** What each call asked and got, without what differs from wire to wire: ids, and how errors are marked. */
export function exchangesIn(items: readonly HistoryItem[]): readonly object[] {
  return items.flatMap((item) => {
    if (item.type !== 'call' || item.executedBy !== 'runner') return []
    const { tool, args, result } = item
    const texts = result?.parts.map((part) => (part.type === 'text' ? part.text : part.kind))
    return [{ tool, args, texts }]
  })
}

/** At most so many of a list, from all over it. */
export function sampled<T>(list: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, list.length / most)
  return list.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}
