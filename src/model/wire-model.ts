import { sha256Hex } from '#hash'
import { isBobbinError } from '../core/error/error.ts'
import { isIterable, isObject, requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { canonicalStringify } from '../core/json/canonical.ts'
import { withChanges } from './appended-changes.ts'
import { checkDefinition } from './define-provider.ts'
import { LastResponses } from './last-responses.ts'
import type { Model, ModelCallOptions, ModelRequest } from './model.ts'
import { promptPieces } from './prompt-pieces.ts'
import type { ProviderDefinition } from './provider-definition.ts'
import type { Reply } from './reply.ts'
import { ResponseGuard } from './response-guard.ts'
import { ResponseReading } from './response-reading.ts'
import { type EventBatches, readReply } from './stream-response.ts'
import { isTransient } from './transient-failure.ts'
import { flatten } from './wire/flatten.ts'
import { randomSecret, syntheticIds } from './wire/synthetic-id.ts'

/** One model of a provider, and how requests get there. */
export interface WireModelOptions<Body extends object = object> {
  readonly model: string
  /** Opaque state is replayed only where endpoint and family are those that it was received with. */
  readonly endpoint?: string
  readonly modelFamily?: string
  /** Other members of every request, in the provider's words. */
  readonly params?: object
  /** Tools that the provider runs or defines, in its words. */
  readonly hostedTools?: readonly object[]
  /** Whether to ask the provider to cache requests; the protocol decides when absent. */
  readonly cache?: boolean
  /** True asks the provider why it found less in its cache than in the request before of the same conversation. */
  readonly diagnoseCache?: boolean
  /** Whether changed instructions and tools are appended to the history; the protocol decides when absent. */
  readonly appends?: boolean
  /** False asks for whole responses. */
  readonly stream?: boolean
  /** True when the client makes a span of each request by itself. */
  readonly traces?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
  /** Sends a body and gives the response: untouched, as parsed events, or as a parsed value. */
  send(body: Body, context: SendContext): Promise<Reply>
  /** Gives a response again that the provider keeps, from its beginning, while that is possible. */
  pickUp?(token: string, context: SendContext): Promise<Reply>
}

/** What a request is sent with. */
export interface SendContext {
  readonly signal?: AbortSignal
  /** The same response for a client that reads it by itself; its bytes are counted and judged on the way. */
  watch(response: Response): Response
}

/** How many requests one response may take. Each brings as much as the provider writes at once. */
const MAX_REQUESTS = 100

/** Joins the definition of a protocol and a way to send requests into the contract that the executor drives. */
export function wireModel<Part extends object, Body extends object>(
  definition: ProviderDefinition<Part, Body>,
  options: WireModelOptions<Body>,
): Model {
  checkDefinition('wireModel', definition)
  checkOptions(options)
  const {
    model,
    endpoint,
    modelFamily,
    params,
    hostedTools,
    cache,
    appends,
    stream = true,
  } = options
  const key = {
    ...(endpoint !== undefined && { endpoint }),
    ...(modelFamily !== undefined && { modelFamily }),
  }
  const settings = {
    model,
    stream,
    ...key,
    ...(params !== undefined && { params }),
    ...(hostedTools !== undefined && { hostedTools }),
    ...(cache !== undefined && { cache }),
    ...(appends !== undefined && { appends }),
  }
  const say = definition.appends?.(settings)
  const responses = options.diagnoseCache ? new LastResponses() : undefined

  async function* batches(
    wanted: ModelRequest,
    { signal: outer, mint, cacheKey, kept, onKept, onRepair, onRequest }: ModelCallOptions = {},
  ): EventBatches {
    const listeners = onRepair ? { onRepair } : {}
    const request = withChanges(wanted, say)
    const part = definition.encode(request.items, { ...key, ...listeners })
    const keyed = {
      ...settings,
      ...(cacheKey !== undefined && { cacheKey }),
      ...(responses && { compareWith: responses.of(cacheKey) }),
    }
    const body = definition.requestBody({ ...keyed, ...listeners, part, request })
    const context = {
      mint: mint ?? syntheticIds({ secret: randomSecret() }),
      ...key,
      body,
      ...(onKept && { onKept }),
    }
    const digest = onRequest || kept ? bodyDigest(body) : undefined
    if (onRequest) {
      const { api, provider, version: adapter } = definition
      const prompt = promptPieces(body, definition.history)
      onRequest({
        ...{ api, provider, model, adapter, settings: keyed },
        ...(digest !== undefined && { digest }),
        ...(prompt !== undefined && { prompt }),
      })
    }
    const { signal, release } = ownSignal(outer)
    const guard = new ResponseGuard(definition.api, options.maxResponseBytes)
    try {
      const watch = (response: Response) => guard.watch(response)
      const sending = { watch, ...(signal !== undefined && { signal }) }
      const reading = new ResponseReading(definition, context, guard)
      let token: string | undefined
      let next: Body | undefined = body
      for (let requests = 0; next !== undefined && requests < MAX_REQUESTS; requests++) {
        const isKept = requests === 0 && kept !== undefined && kept.digest === digest
        const held = isKept ? await pickedUp(kept.token, sending) : undefined
        const reply = held ?? (await options.send(next, sending))
        checkReply(reply)
        const isRead = 'events' in reply || 'payload' in reply
        const read = reading.take(isRead ? reply : await readReply(reply, stream, guard))
        yield* responses ? responses.follow(cacheKey, read) : read
        const { continuation } = reading
        // The same token again would give the same piece again.
        const isNew = continuation !== undefined && continuation !== token
        next = isNew ? definition.continuedBody?.(body, continuation) : undefined
        token = continuation
      }
      const rest = reading.end()
      responses?.see(cacheKey, rest)
      yield rest
    } catch (error) {
      // An abort is the caller's own doing and is passed on as it is.
      if (signal?.aborted || isBobbinError(error)) throw error
      throw guard.fault ?? definition.errors(error)
    } finally {
      release()
    }
  }

  /** Undefined when the provider does not have it any more: then it is asked anew. */
  async function pickedUp(token: string, sending: SendContext): Promise<Reply | undefined> {
    try {
      const reply = await options.pickUp?.(token, sending)
      const status = reply && 'status' in reply ? reply.status : 200
      return status >= 400 && status < 500 ? undefined : reply
    } catch (error) {
      if (sending.signal?.aborted || isTransient(definition.errors(error))) throw error
      return undefined
    }
  }

  return {
    api: definition.api,
    provider: definition.provider,
    model,
    ...key,
    ...(say && { appends: true }),
    ...(options.traces && { traces: true }),
    ...(stream && { streams: true }),
    stream: (...call) => flatten(batches(...call)),
  }
}

const NAMES = [
  'model',
  'traces',
  'endpoint',
  'modelFamily',
  'params',
  'hostedTools',
  'cache',
  'diagnoseCache',
  'appends',
  'stream',
  'maxResponseBytes',
  'send',
  'pickUp',
] as const satisfies readonly (keyof WireModelOptions)[]

const isListOrAbsent = (value: unknown) => value === undefined || Array.isArray(value)
const isFunctionOrAbsent = (value: unknown) => value === undefined || typeof value === 'function'
const isFlagOrAbsent = (value: unknown) => value === undefined || typeof value === 'boolean'
const isSizeOrAbsent = (value: unknown) =>
  value === undefined || (typeof value === 'number' && value >= 1)

function checkOptions(options: unknown): void {
  requireOptions('wireModel', options, NAMES)
  const given = options as Readonly<Record<(typeof NAMES)[number], unknown>>
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const tests: readonly (readonly [(typeof NAMES)[number], boolean, string])[] = [
    ['model', isText(given.model), 'must be the name of a model, a string'],
    ['send', typeof given.send === 'function', 'must be a function that sends a body'],
    ['pickUp', isFunctionOrAbsent(given.pickUp), 'must be a function, or be left out'],
    ['endpoint', given.endpoint === undefined || isText(given.endpoint), 'must be a text'],
    ['cache', ['boolean', 'undefined'].includes(typeof given.cache), 'must be true or false'],
    ['diagnoseCache', isFlagOrAbsent(given.diagnoseCache), 'must be true or false'],
    ['appends', isFlagOrAbsent(given.appends), 'must be true or false'],
    ['modelFamily', given.modelFamily === undefined || isText(given.modelFamily), 'must be a text'],
    ['params', given.params === undefined || isObject(given.params), 'must be an object'],
    ['hostedTools', isListOrAbsent(given.hostedTools), 'must be a list of tools'],
    ['stream', isFlagOrAbsent(given.stream), 'must be true or false'],
    ['traces', isFlagOrAbsent(given.traces), 'must be true or false'],
    ['maxResponseBytes', isSizeOrAbsent(given.maxResponseBytes), 'must be a number, 1 or more'],
  ]
  for (const [name, isRight, rule] of tests) {
    if (!isRight) throw wrongInput('wireModel', name, rule)
  }
}

const isEvents = (value: unknown) =>
  isIterable(value) || (isObject(value) && Symbol.asyncIterator in value)

/** Refuses what `send` must not give. It would look like a provider that is out of reach, and be tried again. */
function checkReply(reply: unknown): void {
  const given: object = isObject(reply) ? reply : {}
  const isReply =
    'payload' in given ||
    ('events' in given && isEvents(given.events)) ||
    // A `fetch` of another make has a class of its own.
    ('status' in given && 'headers' in given && 'body' in given)
  if (isReply) return
  const rule = 'must give a `Response`, `{ events }` with an async iterable, or `{ payload }`'
  throw wrongInput('wireModel', 'send', rule)
}

/** The digest of a body; undefined for a body that is not JSON. The client refuses such a body. */
export function bodyDigest(body: object): string | undefined {
  try {
    return sha256Hex(canonicalStringify(body))
  } catch {
    return undefined
  }
}

/** A signal for one request: clients leave listeners on the signals they are given. */
function ownSignal(outer: AbortSignal | undefined) {
  if (outer === undefined) return { signal: undefined, release: () => {} }
  const controller = new AbortController()
  const abort = () => controller.abort(outer.reason)
  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    release: () => outer.removeEventListener('abort', abort),
  }
}
