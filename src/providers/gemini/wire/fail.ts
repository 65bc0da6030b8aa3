import type { BobbinError } from '../../../core/error/error.ts'
import { thrownText } from '../../../core/error/thrown-text.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  codeInside,
  codeOfStatus,
  type FailureCode,
  type FailureFacts,
  providerFailure,
  statusIn,
} from '../../../model/provider-failure.ts'
import { broken } from '../../../model/sse.ts'
import { asList, asObject, asText, asWord } from '../../../model/wire/wire-value.ts'
import { API } from './wire.ts'

/** Words in a body that say more than its status. */
const CODES: Readonly<Record<string, FailureCode>> = {
  API_KEY_INVALID: 'E_PROVIDER_AUTH',
  UNAUTHENTICATED: 'E_PROVIDER_AUTH',
  PERMISSION_DENIED: 'E_PROVIDER_AUTH',
  NOT_FOUND: 'E_PROVIDER_NOT_FOUND',
  RESOURCE_EXHAUSTED: 'E_PROVIDER_RATE_LIMITED',
  INVALID_ARGUMENT: 'E_PROVIDER_BAD_REQUEST',
  FAILED_PRECONDITION: 'E_PROVIDER_BAD_REQUEST',
  INTERNAL: 'E_PROVIDER_UNAVAILABLE',
  UNAVAILABLE: 'E_PROVIDER_UNAVAILABLE',
  DEADLINE_EXCEEDED: 'E_PROVIDER_UNAVAILABLE',
}

// The provider has no code for this, only the message.
const TOO_LONG = /token count .*exceeds the maximum|exceeds the maximum number of tokens/i

/** The error in a body, or in a chunk after HTTP 200. */
export function failureOfBody(body: unknown, status?: number): BobbinError {
  const { code, facts } = factsOf(body, status)
  return providerFailure(code, facts)
}

/** Any error of the `@google/genai` client, known by shape, so that no copy of it is needed. */
export function failureOfClient(error: unknown): BobbinError {
  const { status, message, name } = (asObject(error) ?? {}) as Partial<JsonObject>
  const said = asText(message) ?? thrownText(error)
  if (typeof status === 'number') {
    const { code, facts } = factsOf(bodyIn(said) ?? { message: said }, status)
    return providerFailure(code, facts, error)
  }
  // The client parses chunks itself and has no codes for what is wrong with them.
  if (said.includes('Incomplete JSON segment')) {
    return broken('cut', 'it ended within an event', error)
  }
  if (name === 'SyntaxError' || error instanceof SyntaxError || said.includes('parsing stream')) {
    return broken('not-json', 'what it holds is not JSON', error)
  }
  return providerFailure('E_PROVIDER_UNREACHABLE', { api: API, message: said }, error)
}

/** The client puts the body into the message, sometimes after words of its own. */
function bodyIn(message: string): unknown {
  try {
    return JSON.parse(message.slice(message.indexOf('{')))
  } catch {
    return undefined
  }
}

function factsOf(body: unknown, status: number | undefined) {
  const error = asObject(asObject(body)?.['error']) ?? asObject(body)
  const message = asWord(error?.['message']) ?? 'the request failed without saying why'
  const details = asList(error?.['details']).map(asObject)
  const reason = details.map((detail) => asWord(detail?.['reason'])).find(Boolean)
  const word = asWord(error?.['status'])
  const number = status ?? statusIn(error, body)
  const retryAfterMs = delayIn(details)
  const facts: FailureFacts = {
    api: API,
    message,
    ...(number !== undefined && { status: number }),
    ...((reason ?? word) !== undefined && { providerCode: (reason ?? word) as string }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  return { code: codeOf([reason, word], message, status, number), facts }
}

function codeOf(
  words: readonly (string | undefined)[],
  message: string,
  status: number | undefined,
  inside: number | undefined,
): FailureCode {
  if (TOO_LONG.test(message)) return 'E_PROVIDER_CONTEXT_TOO_LONG'
  const word = words.find((each) => each !== undefined && Object.hasOwn(CODES, each))
  const known = word === undefined ? undefined : CODES[word]
  return status === undefined ? codeInside(inside, known) : (known ?? codeOfStatus(status))
}

/** `retryDelay` is a text like `7s`. */
function delayIn(details: readonly (JsonObject | undefined)[]): number | undefined {
  for (const detail of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(asText(detail?.['retryDelay']) ?? '')?.[1]
    if (seconds !== undefined) return Number(seconds) * 1000
  }
  return undefined
}
