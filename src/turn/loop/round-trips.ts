import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { inKeyOrder } from '../../core/json/key-order.ts'
import type {
  KeptResponse,
  ModelFallback,
  ModelName,
  ModelRequest,
  SentRequest,
} from '../../model/model.ts'
import {
  type ModelCall,
  REQUEST_PARTS,
  type RequestPart,
  type RequestParts,
} from '../../store/entry.ts'
import { partRow } from '../../store/rows/request-parts.ts'
import type { Cost } from '../call/inner-turn.ts'
import type { ModelCallTrace } from '../events/telemetry.ts'
import type { ExecutorDecision, RoundTrip } from '../executor/executor.ts'
import { errorText } from '../limits/failure.ts'
import { costOf, priceOf } from '../limits/prices.ts'
import type { Fact } from '../log/fact.ts'
import { brokenText, isUnexplained } from '../request/prompt-prefix.ts'
import type { PreparedRequest } from '../request/turn-request.ts'
import type { Turn } from './turn.ts'
import { countedUsage } from './turn-tally.ts'

/** The known facts about one request to a model. */
type Trip = {
  -readonly [Name in
    | 'startedAt'
    | 'firstTokenAt'
    | 'endedAt'
    | 'finish'
    | 'usage'
    | 'error'
    | 'prefix'
    | 'cacheMiss'
    | 'fallback']?: ModelCall[Name]
} & { readonly model: ModelName; request?: ModelRequest; sent?: SentRequest }

/** The requests to models that one try of an executor makes, and the entries about them. */
export class RoundTrips {
  readonly #turn: Turn
  readonly #call: Pick<ModelCall, 'id' | 'iteration' | 'attempt'>
  readonly #trips: Trip[] = []
  readonly #traces: ModelCallTrace[] = []
  readonly #startedAt: number

  constructor(turn: Turn, call: Pick<ModelCall, 'id' | 'iteration' | 'attempt'>) {
    this.#turn = turn
    this.#call = call
    this.#startedAt = this.#now()
  }

  #now(): number {
    return this.#turn.settings.clock.now()
  }

  open(model: ModelName, fallback?: ModelFallback): RoundTrip {
    const trip: Trip = { model, startedAt: this.#now() }
    if (fallback !== undefined) {
      trip.fallback = { ...nameOf(fallback.from), error: this.#fault(fallback.error) }
    }
    this.#trips.push(trip)
    const end = (facts: Partial<Trip>) => {
      if (trip.endedAt === undefined) Object.assign(trip, { endedAt: this.#now(), ...facts })
    }
    const trace = this.#turn.trace?.modelCall({ ...this.#call, ...model }, this.#turn.output.json)
    if (trace) this.#traces.push(trace)
    return {
      ...(trace && { within: (...given) => trace.within(...given) }),
      sent: ({ prompt, ...sent }, request) => {
        const { request: own, events } = this.#turn
        const prefix = this.#turn.prefix.next(prompt ? { ...sent, prompt } : sent, own.source)
        Object.assign(trip, { sent, request, ...(prefix && { prefix }) })
        if (isUnexplained(prefix?.broken)) {
          const { at } = prefix.broken
          events.warnOnce(`prefix ${at}`, {
            code: 'PREFIX_BROKEN',
            message: brokenText(prefix.broken),
          })
        }
      },
      kept: (token) => this.#keep(trip, token),
      answered: () => {
        trip.firstTokenAt ??= this.#now()
        trace?.answered()
      },
      ended: ({ reason, usage, cacheMiss, items }) => {
        trace?.ended({ reason, usage, items })
        end({ finish: reason, ...usageOf(usage), ...missOf(cacheMiss) })
      },
      failed: (error) => {
        trace?.failed(error)
        end({ error: this.#fault(error) })
      },
    }
  }

  /** The response that the last request of this try left at its provider. */
  kept: (ModelName & KeptResponse) | undefined

  /** Stores that a response is in flight, so that it can be picked up if this process dies. */
  #keep({ model, sent, startedAt }: Trip, token: string): void {
    const { digest } = sent ?? {}
    if (digest === undefined || this.kept?.token === token) return
    this.kept = { ...nameOf(model), token, digest }
    const modelCall: ModelCall = {
      ...this.#call,
      id: `${this.#call.id}/kept/${this.#trips.length}`,
      ...nameOf(model),
      ...(startedAt !== undefined && { startedAt }),
      continuation: token,
      digests: { request: digest },
    }
    const stored = this.#turn.log.commit([{ kind: 'model-call', modelCall: inKeyOrder(modelCall) }])
    // A store that fails now also fails the commit of the response, which reports the error.
    void stored.catch(() => {})
  }

  /** What the try cost, by the prices of the models that were asked. */
  cost(decision: ExecutorDecision): Cost {
    const { prices } = this.#turn.settings
    if (prices === undefined) return {}
    if (this.#trips.length === 0) return decision.usage ? { unpriced: 'the executor' } : {}
    let amount = 0
    for (const trip of this.#trips) {
      const cost = this.#costOf(trip)
      if (cost === undefined && trip.usage !== undefined) return { unpriced: trip.model.model }
      amount += cost ?? 0
    }
    return { amount }
  }

  #costOf({ model, sent, usage }: Trip): number | undefined {
    const price = priceOf(this.#turn.settings.prices, (sent ?? model).model)
    return price && usage && costOf(price, usage)
  }

  /** The facts about a try that failed. */
  failed(error: unknown): readonly Fact[] {
    const fault = this.#fault(error)
    const endedAt = this.#now()
    for (const trace of this.#traces) trace.failed(error)
    for (const trip of this.#trips) if (trip.endedAt === undefined) trip.error = fault
    return this.#facts(this.#trips.map((trip) => ({ endedAt, ...trip })))
  }

  /** The facts about a try that gave a decision. */
  decided({ usage, requestDigest, finish }: ExecutorDecision): readonly Fact[] {
    for (const trace of this.#traces) trace.left()
    if (this.#trips.length > 0) return this.#facts(this.#trips)
    // An executor without a model: it is worth an entry if it says what it sent or what that cost.
    const prepared = this.#turn.request.takePrepared()
    if (usage === undefined && requestDigest === undefined && prepared.shed === undefined) return []
    const { context: _, ...about } = prepared
    const modelCall: ModelCall = {
      ...this.#call,
      ...about,
      startedAt: this.#startedAt,
      endedAt: this.#now(),
      ...(finish !== undefined && { finish }),
      ...usageOf(usage),
      ownExecutor: true,
      digests: requestDigest === undefined ? {} : { request: requestDigest },
    }
    return [{ kind: 'model-call', modelCall: inKeyOrder(modelCall) }]
  }

  #facts(trips: readonly Trip[]): readonly Fact[] {
    if (trips.length === 0) return []
    const prepared = this.#turn.request.takePrepared()
    return trips.map((trip, at) => {
      // The last one has given the response.
      const id = at === trips.length - 1 ? this.#call.id : `${this.#call.id}/${at + 1}`
      // Only the first entry names the shed places.
      const { shed: _, ...rest } = prepared
      return { kind: 'model-call', modelCall: this.#entry(trip, id, at === 0 ? prepared : rest) }
    })
  }

  #entry(trip: Trip, id: string, { context, ...about }: PreparedRequest): ModelCall {
    const { model, sent, request, ...facts } = trip
    const { settings } = this.#turn
    const cost = this.#costOf(trip)
    const { parts, ...stored } = this.#parts(sent, request, context)
    // Stored entries have their keys in order, and an event is the same live and from the log.
    const entry = inKeyOrder<ModelCall>({
      ...this.#call,
      id,
      ...nameOf(sent ?? model),
      ...about,
      ...defined(facts),
      ...(cost !== undefined && { cost }),
      ...(settings.hasOwnExecutor && { ownExecutor: true }),
      ...(sent && { adapter: sent.adapter }),
      ...stored,
    })
    return parts === undefined ? entry : { ...entry, parts }
  }

  /** The parts of a request without the secrets of the turn, and their digests. */
  #parts(
    sent: SentRequest | undefined,
    request: ModelRequest | undefined,
    context: PreparedRequest['context'],
  ): Pick<ModelCall, 'digests' | 'parts' | 'scrubbed' | 'capture'> {
    if (sent === undefined || request === undefined) return { digests: {} }
    const { output, settings } = this.#turn
    const digests: { [Name in RequestPart | 'request']?: string } = {}
    if (sent.digest !== undefined) digests.request = sent.digest
    const parts: { [Name in RequestPart]?: JsonValue } = {}
    const scrubbed: RequestPart[] = []
    const given = partsOf(sent, request, context)
    for (const name of REQUEST_PARTS) {
      const part = given[name]
      if (part === undefined) continue
      const clean = output.json(part)
      const { digest } = partRow(clean)
      if (clean !== part && digest !== partRow(part).digest) scrubbed.push(name)
      parts[name] = clean
      digests[name] = digest
    }
    return {
      digests,
      ...(scrubbed.length > 0 && { scrubbed }),
      ...(settings.capture === 'digests' ? { capture: 'digests' } : { parts }),
    }
  }

  #fault(error: unknown): NonNullable<ModelCall['error']> {
    const message = errorText(error, this.#turn.output.text)
    return isBobbinError(error) ? { code: error.code, message } : { message }
  }
}

const nameOf = ({ api, provider, model }: ModelName) => ({ api, provider, model })

const usageOf = (given: ExecutorDecision['usage']) => {
  const usage = countedUsage(given)
  return usage && { usage }
}

/** A provider says it in a few words. */
const MAX_MISS = 4_096

const missOf = (miss: JsonObject | undefined) =>
  miss !== undefined && JSON.stringify(miss).length <= MAX_MISS ? { cacheMiss: miss } : {}

function defined<T extends object>(facts: T): T {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T
}

/** What a request is made of, besides the log. Settings that are not JSON have no part. */
function partsOf(
  { settings }: SentRequest,
  { instructions, tools, toolChoice, output }: ModelRequest,
  context: PreparedRequest['context'],
): RequestParts {
  const params = plain({ ...settings, ...(toolChoice !== undefined && { toolChoice }) })
  return {
    ...(instructions !== undefined && { instructions }),
    ...(tools !== undefined && { tools: tools as unknown as JsonValue }),
    ...(context.length > 0 && { context: context as unknown as JsonValue }),
    ...(params !== undefined && { params }),
    ...(output !== undefined && { output }),
  }
}

function plain(value: object): JsonValue | undefined {
  try {
    return JSON.parse(JSON.stringify(value)) as JsonValue
  } catch {
    return undefined
  }
}
