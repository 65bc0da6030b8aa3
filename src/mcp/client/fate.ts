import { RedirectRefusedError } from '../access/follow-redirects.ts'
import { isRefusal } from '../access/sign-in.ts'
import { isJsonObject } from './safe-schema.ts'

/**
 * Why a request failed: it was never sent, the server answered with an error, the server answered with
 * something that cannot be read, or its answer was lost.
 */
export type Fate = 'not-sent' | 'answered' | 'unreadable' | 'lost'

/** The server has forgotten the session. It refused the request; another session may carry it out. */
export class SessionEndedError extends Error {
  override name = 'SessionEndedError'
}

/** The stream of a response ended without the response. */
export const STREAM_ENDED = -31_999

/** Errors of the client by which nothing has left the process. */
const NOT_SENT = [
  'NOT_CONNECTED',
  'NOT_INITIALIZED',
  'CAPABILITY_NOT_SUPPORTED',
  'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION',
]
const UNREADABLE = ['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE']
/** Errors of a socket that was never connected. */
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']
/** A legacy server's word that a person must visit pages before it can be called. */
const LINKS_FIRST = -32_042

/** Reads the fate of a request from its error. An unknown error counts as lost. */
export function fateOf(error: unknown): Fate {
  const { code, status, message, cause } = partsOf(error)
  if (error instanceof RedirectRefusedError) return error.mayBeDone ? 'lost' : 'answered'
  if (error instanceof SessionEndedError) return 'not-sent'
  if (code === STREAM_ENDED) return 'lost'
  if (typeof code === 'number' || isRefusal(error)) return 'answered'
  if (typeof status === 'number') return status >= 400 && status < 500 ? 'answered' : 'lost'
  if (NOT_SENT.includes(String(code)) || message === 'Not connected') return 'not-sent'
  if (UNREADABLE.includes(String(code))) return 'unreadable'
  return NEVER_CONNECTED.includes(String(partsOf(cause).code)) ? 'not-sent' : 'lost'
}

/** Whether an error says that the server has forgotten the session of its client. */
export const isForgotten = (error: unknown, sessionId: string | undefined): boolean =>
  sessionId !== undefined && partsOf(error).status === 404

/** The pages that a server wants visited before it takes the call. */
export function linksOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  const { code, data } = partsOf(error)
  if (code !== LINKS_FIRST || !isJsonObject(data) || !Array.isArray(data['elicitations'])) {
    return undefined
  }
  const requests = data['elicitations'].map((params: unknown, index) => {
    return [`page-${index}`, { method: 'elicitation/create', params }]
  })
  return Object.fromEntries(requests) as Record<string, unknown>
}

interface ErrorParts {
  readonly code?: unknown
  readonly status?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly data?: unknown
}

const partsOf = (error: unknown): ErrorParts =>
  typeof error === 'object' && error !== null ? error : {}
