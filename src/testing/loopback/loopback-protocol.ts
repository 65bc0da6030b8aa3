import type { WireApi } from '../../model/wire/wire-adapter.ts'
import { boundThinking } from './bound-thinking.ts'
import type { RequestMemory } from './loopback-exchange.ts'

/** One protocol over HTTP: the paths of requests, the framing of events, the form of errors. */
export interface LoopbackProtocol {
  /** What the path of a request must match. */
  readonly route: RegExp
  /** Comes before the route in the base URL that the provider's client is given. */
  readonly basePath: string
  /** Whether a request wants a stream. */
  isStream(path: string, body: unknown): boolean
  /** One event as it goes over the wire; a string is sent verbatim as its data. */
  frame(event: unknown): string
  /** What follows the last event of a whole stream. */
  readonly trailer: string
  /** The body of an answer with an error status. */
  errorBody(status: number, message: string): object
  /** The event for an error after the stream began. */
  errorEvent(status: number, message: string): object
  /** Rules about requests that depend on earlier answers, if the provider has such. */
  memory?(): RequestMemory
}

const wantsStream = (_path: string, body: unknown) =>
  (body as { stream?: unknown } | null)?.stream === true

const dataOf = (event: unknown) => (typeof event === 'string' ? event : JSON.stringify(event))

function namedFrame(event: unknown): string {
  const data = dataOf(event)
  // Recorded data may be broken on purpose, so the name is searched, not parsed.
  const type = /"type"\s*:\s*"([\w.]+)"/.exec(data)?.[1]
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${data}\n\n`
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_exceeded',
}

function openaiError(status: number, message: string) {
  const type = OPENAI_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { message, type, param: null, code: status < 500 ? null : type }
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function anthropicError(status: number, message: string) {
  const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message }, request_id: 'req_loopback' }
}

const GEMINI_STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function geminiError(status: number, message: string) {
  const word = GEMINI_STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE')
  return { error: { code: status, message, status: word } }
}

const responses: LoopbackProtocol = {
  route: /\/responses$/,
  basePath: '/v1',
  isStream: wantsStream,
  frame: namedFrame,
  trailer: '',
  errorBody: (status, message) => ({ error: openaiError(status, message) }),
  errorEvent: (status, message) => {
    const { type, param } = openaiError(status, message)
    return { type: 'error', code: type, message, param, sequence_number: 0 }
  },
}

/** The five protocols, as data. */
export const LOOPBACK_PROTOCOLS: Readonly<Record<WireApi, LoopbackProtocol>> = {
  'openai-responses': responses,
  foundry: { ...responses, basePath: '/api/projects/loopback/openai/v1' },
  'openai-chat': {
    ...responses,
    route: /\/chat\/completions$/,
    frame: (event) => `data: ${dataOf(event)}\n\n`,
    trailer: 'data: [DONE]\n\n',
    errorEvent: (status, message) => ({ error: openaiError(status, message) }),
  },
  'anthropic-messages': {
    route: /\/v1\/messages$/,
    basePath: '',
    isStream: wantsStream,
    frame: namedFrame,
    trailer: '',
    errorBody: anthropicError,
    errorEvent: anthropicError,
    memory: boundThinking,
  },
  gemini: {
    route: /\/models\/[^/:]+:(generateContent|streamGenerateContent)$/,
    basePath: '',
    isStream: (path) => path.endsWith(':streamGenerateContent'),
    frame: (event) => `data: ${dataOf(event)}\r\n\r\n`,
    trailer: '',
    errorBody: geminiError,
    errorEvent: geminiError,
  },
}
