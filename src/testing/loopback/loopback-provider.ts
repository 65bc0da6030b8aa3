import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, wrongInput } from '../../core/error/wrong-input.ts'
import type { LoopbackHalf, ProviderDefinition } from '../../model/provider-definition.ts'
import { definitionOf, type WireApi } from '../../wire/definition-of.ts'
import type { Violation } from '../../wire/index.ts'
import { anyHttpServer } from './any-http-server.ts'
import { boundThinking } from './bound-thinking.ts'
import type { LoopbackExchange, LoopbackRequest, RequestMemory } from './loopback-exchange.ts'
import { rechunked, type SendStep, sendSteps } from './loopback-fault.ts'
import { type LoopbackRecord, Recorder } from './recorder.ts'
import { bytesOf, type LoopbackRecording } from './recording.ts'

/** A scripted answer, or a function that makes it from the request. */
export type LoopbackScript =
  | LoopbackExchange
  | ((request: LoopbackRequest) => LoopbackExchange | Promise<LoopbackExchange>)

/** Which protocol a loopback server speaks, and what it answers. */
export interface LoopbackOptions {
  /** A protocol of this package by name, or the definition of any. */
  readonly api: WireApi | ProviderDefinition
  /** Answers in order; one request takes one. Left out where a real server is recorded. */
  readonly exchanges?: readonly LoopbackScript[]
  /**
   * Passes requests on to this real server and writes each exchange to a file, without keys and without what names a
   * person. A text is its base URL.
   */
  readonly record?: string | LoopbackRecord
  /** The provider's rules, usually `wire(api).validate`. */
  validate?(payload: unknown): readonly Violation[]
}

/** Rules about requests that depend on earlier answers, for the protocols that have such. */
const MEMORIES: Readonly<Record<string, () => RequestMemory>> = {
  'anthropic-messages': boundThinking,
}

/** A running loopback server. */
export interface LoopbackProvider {
  /** The base URL for the provider's official client. */
  readonly url: string
  /** Everything that was asked so far, in order. */
  readonly requests: readonly LoopbackRequest[]
  /** How many exchanges no request has used yet. */
  readonly remaining: number
  /** The records so far, in the order in which the answers ended. */
  readonly recordings: readonly LoopbackRecording[]
  /** Drops all connections and stops. */
  close(): Promise<void>
}

/** Starts a provider on 127.0.0.1 that plays exchanges, checks what it is sent, and fails on demand. */
export async function loopbackProvider(options: LoopbackOptions): Promise<LoopbackProvider> {
  const { api, protocol } = checkLoopback(options)
  const requests: LoopbackRequest[] = []
  const { record } = options
  const scripts = [...(options.exchanges ?? [])]
  // A real server has a memory of its own.
  const memory = record === undefined ? MEMORIES[api]?.() : undefined
  const recorder =
    record === undefined
      ? undefined
      : new Recorder(typeof record === 'string' ? { upstream: record } : record)

  async function exchangeFor(request: LoopbackRequest): Promise<LoopbackExchange> {
    const [first] = request.violations
    if (first !== undefined) return refusal(protocol, 400, `${first.message} (${first.path})`)
    const script = scripts.shift()
    if (script === undefined) {
      const message = `The loopback server has no exchange left for request ${requests.length}.`
      return refusal(protocol, 400, message)
    }
    const exchange = typeof script === 'function' ? await script(request) : script
    const problem = misfit(exchange, request.isStream)
    if (problem !== undefined) return refusal(protocol, 400, problem)
    if ((exchange.status ?? 200) < 400) memory?.answered(request, exchange)
    return exchange
  }

  const server = await anyHttpServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://loopback')
    const path = url.pathname
    const answer = async () => {
      const parts: Buffer[] = []
      for await (const part of incoming) parts.push(part as Buffer)
      const bytes = Buffer.concat(parts)
      const body = parsed(bytes.toString('utf8'))
      if (incoming.method !== 'POST' || !protocol.route.test(path)) {
        const message = `\`${incoming.method} ${path}\` is not a route of \`${api}\`.`
        return send(response, protocol, refusal(protocol, 404, message), false)
      }
      const isStream = protocol.isStream(path, body)
      const { headers } = incoming
      const remembered = memory?.check({ body, headers }) ?? []
      const violations = [...(options.validate?.(body) ?? []), ...remembered]
      const request = { path, headers, body, isStream, violations }
      requests.push(request)
      if (recorder !== undefined && violations.length === 0) {
        const { basePath } = protocol
        return recorder.pass({ api, request, headers, url, body: bytes, response, basePath })
      }
      await send(response, protocol, await exchangeFor(request), isStream)
    }
    // A client that hangs up is not an error; an error in the script must be seen.
    answer().catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy()
      else void send(response, protocol, refusal(protocol, 400, String(error)), false)
    })
  })
  return {
    url: `http://127.0.0.1:${server.port}${protocol.basePath}`,
    requests,
    recordings: recorder?.recordings ?? [],
    get remaining() {
      return scripts.length
    },
    close: () => server.close(),
  }
}

/** Found out later, it would look like a fault of the client. */
function checkLoopback(options: LoopbackOptions) {
  const refuse = (path: string, rule: string) => wrongInput('loopbackProvider', path, rule)
  if (!isObject(options)) throw refuse('', 'must be an object: `{ api, exchanges }`')
  const { exchanges, record, validate } = options as {
    readonly [name in 'exchanges' | 'record' | 'validate']?: unknown
  }
  const { api, loopback } = definitionOf(options.api, { by: 'loopbackProvider' })
  if (loopback === undefined) throw refuse('api', 'must be a definition that has `loopback`')
  if (record === undefined) checkExchanges(exchanges, refuse)
  else if (exchanges !== undefined) throw refuse('exchanges', 'must be left out beside `record`')
  else checkRecord(record, refuse)
  if (validate !== undefined && typeof validate !== 'function') {
    throw refuse('validate', 'must be a function of a payload, such as `wire(api).validate`')
  }
  return { api, protocol: loopback }
}

type Refuse = (path: string, rule: string) => Error

function checkExchanges(exchanges: unknown, refuse: Refuse): void {
  if (!Array.isArray(exchanges)) throw refuse('exchanges', 'must be a list; it may be empty')
  const misfitting = exchanges.findIndex((each) => !isObject(each) && typeof each !== 'function')
  if (misfitting === -1) return
  throw refuse(`exchanges[${misfitting}]`, 'must be an exchange, or a function that makes one')
}

function checkRecord(record: unknown, refuse: Refuse): void {
  const { upstream, directory } = (isObject(record) ? record : { upstream: record }) as {
    readonly [name in 'upstream' | 'directory']?: unknown
  }
  if (typeof upstream !== 'string' || !/^https?:\/\//.test(upstream) || !URL.canParse(upstream)) {
    throw refuse('record', 'must be the base URL of a real server, or `{ upstream, directory? }`')
  }
  if (directory !== undefined && (typeof directory !== 'string' || directory === '')) {
    throw refuse('record.directory', 'must be the path of a folder')
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusal(protocol: LoopbackHalf, status: number, message: string): LoopbackExchange {
  return { status, body: protocol.errorBody(status, message) }
}

async function send(
  response: ServerResponse,
  protocol: LoopbackHalf,
  exchange: LoopbackExchange,
  isStream: boolean,
): Promise<void> {
  const { status = 200, headers = {}, chunkBytes } = exchange
  const streams = isStream && status < 400
  const frames = streams ? streamFrames(exchange, protocol) : [bodyBytes(exchange, protocol)]
  const type = streams ? (protocol.contentType ?? 'text/event-stream') : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.flushHeaders()
  const errorFrame = (code: number) => {
    const event = protocol.errorEvent(code, `The loopback server failed with ${code}.`)
    return bytesOf(protocol.frame(event))
  }
  const steps = sendSteps(frames, exchange.fault, errorFrame)
  for (const step of chunkBytes === undefined ? steps : rechunked(steps, chunkBytes)) {
    if (response.destroyed || (await takeStep(response, step)) === 'over') return
  }
  response.end()
}

/** Why an exchange cannot answer a request, if so. */
function misfit({ status = 200, ...exchange }: LoopbackExchange, isStream: boolean) {
  if (status >= 400) return undefined
  if (isStream && exchange.events === undefined && exchange.recording === undefined) {
    return 'The request asks for a stream, and the exchange has no `events` or `recording`.'
  }
  if (!isStream && exchange.body === undefined) {
    return 'The request does not ask for a stream, and the exchange has no `body`.'
  }
  return undefined
}

function bodyBytes({ status = 200, body }: LoopbackExchange, protocol: LoopbackHalf) {
  const value = body ?? protocol.errorBody(status, `The loopback server answers ${status}.`)
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
}

function streamFrames(
  { events = [], recording }: LoopbackExchange,
  protocol: LoopbackHalf,
): readonly Uint8Array[] {
  if (recording !== undefined) {
    const bytes = bytesOf(recording)
    return protocol.split?.(bytes) ?? recordedFrames(bytes)
  }
  const frames = events.map((event) => bytesOf(protocol.frame(event)))
  return protocol.trailer === undefined ? frames : [...frames, bytesOf(protocol.trailer)]
}

/** Cuts a recording after each blank line, so that faults can count events in it. */
function recordedFrames(bytes: Buffer): readonly Uint8Array[] {
  // One character per byte: positions in the text are positions in the bytes.
  const text = bytes.toString('latin1')
  const ends = Array.from(text.matchAll(/\r?\n\r?\n/g), (gap) => gap.index + gap[0].length)
  if (ends.at(-1) !== bytes.length) ends.push(bytes.length)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

async function takeStep(response: ServerResponse, step: SendStep): Promise<'on' | 'over'> {
  switch (step.type) {
    case 'pause':
      await sleep(step.ms)
      return 'on'
    case 'hang':
      return 'over'
    case 'reset':
      response.socket?.resetAndDestroy()
      return 'over'
    default:
      // What the client gets before a reset must not depend on luck: wait until the bytes have left.
      await new Promise<void>((resolve) => {
        response.write(step.bytes, () => resolve())
      })
      return 'on'
  }
}
