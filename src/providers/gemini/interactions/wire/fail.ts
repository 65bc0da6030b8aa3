import type { BobbinError } from '../../../../core/error/error.ts'
import { thrownText } from '../../../../core/error/thrown-text.ts'
import type { JsonObject } from '../../../../core/json/json.ts'
import {
  asClientError,
  codeInside,
  codeOfStatus,
  type FailureCode,
  providerFailure,
  retryAfter,
  statusIn,
} from '../../../../model/provider-failure.ts'
import { broken } from '../../../../model/sse.ts'
import { asList, asObject, asText, asWord } from '../../../../model/wire/wire-value.ts'
import { API } from './wire.ts'

/** Words in a body that say more than its status. The gateway before the service has words of its own, in capitals. */
const CODES: Readonly<Record<string, FailureCode>> = {
  invalid_request: 'E_PROVIDER_BAD_REQUEST',
  invalid_argument: 'E_PROVIDER_BAD_REQUEST',
  failed_precondition: 'E_PROVIDER_BAD_REQUEST',
  out_of_range: 'E_PROVIDER_BAD_REQUEST',
  parameter_unknown: 'E_PROVIDER_BAD_REQUEST',
  content_blocked: 'E_PROVIDER_BAD_REQUEST',
  unimplemented: 'E_PROVIDER_BAD_REQUEST',
  authentication: 'E_PROVIDER_AUTH',
  api_key_invalid: 'E_PROVIDER_AUTH',
  unauthenticated: 'E_PROVIDER_AUTH',
  permission_denied: 'E_PROVIDER_AUTH',
  payment_required: 'E_PROVIDER_AUTH',
  not_found: 'E_PROVIDER_NOT_FOUND',
  model_not_found: 'E_PROVIDER_NOT_FOUND',
  rate_limit_exceeded: 'E_PROVIDER_RATE_LIMITED',
  quota_exceeded: 'E_PROVIDER_RATE_LIMITED',
  too_many_requests: 'E_PROVIDER_RATE_LIMITED',
  resource_exhausted: 'E_PROVIDER_RATE_LIMITED',
  api_error: 'E_PROVIDER_UNAVAILABLE',
  internal: 'E_PROVIDER_UNAVAILABLE',
  service_unavailable: 'E_PROVIDER_UNAVAILABLE',
  unavailable: 'E_PROVIDER_UNAVAILABLE',
  deadline_exceeded: 'E_PROVIDER_UNAVAILABLE',
}

// The provider has no code for this, only the message.
const TOO_LONG = /token count .*exceeds the maximum|exceeds the maximum number of tokens/i

/** The error in a body, or in an event after HTTP 200. */
export function failureOfBody(
  body: unknown,
  { status, headers, cause }: { status?: number; headers?: unknown; cause?: unknown } = {},
): BobbinError {
  const error = asObject(asObject(body)?.['error']) ?? asObject(body)
  const details = asList(error?.['details']).map(asObject)
  const said = [...details.map((detail) => detail?.['reason']), error?.['code'], error?.['status']]
  const words = said.flatMap((word) => (typeof word === 'string' ? (asWord(word) ?? []) : []))
  const message =
    asWord(error?.['message']) ?? asWord(body) ?? 'the request failed without saying why'
  const inside = status ?? statusIn(error, body)
  const [providerCode] = words
  const retryAfterMs = delayIn(details) ?? retryAfter(headers)
  const facts = {
    api: API,
    message,
    ...(inside !== undefined && { status: inside }),
    ...(providerCode !== undefined && { providerCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  return providerFailure(codeOf(words, message, status, inside), facts, cause)
}

/** Any error of `fetch` or of the `@google/genai` client, known by shape, so that no copy of it is needed. */
export function failureOfClient(thrown: unknown): BobbinError {
  const { cause } = (asObject(thrown) ?? {}) as Partial<JsonObject>
  // The client wraps what went wrong while it continued a long response.
  const isWrapped = asObject(thrown)?.['continuationIds'] !== undefined && cause !== undefined
  const error = isWrapped ? cause : thrown
  const { status, error: body, message, headers } = asClientError(error)
  const said = asText(message) ?? thrownText(error)
  if (typeof status === 'number') {
    return failureOfBody(body ?? { message: said }, { status, headers, cause: error })
  }
  // The client parses events itself and has no codes for what is wrong with them.
  if (error instanceof SyntaxError || /JSON/.test(said)) {
    return broken('not-json', 'what it holds is not JSON', error)
  }
  return providerFailure('E_PROVIDER_UNREACHABLE', { api: API, message: said }, error)
}

function codeOf(
  words: readonly string[],
  message: string,
  status: number | undefined,
  inside: number | undefined,
): FailureCode {
  if (TOO_LONG.test(message)) return 'E_PROVIDER_CONTEXT_TOO_LONG'
  const word = words.map((each) => each.toLowerCase()).find((each) => Object.hasOwn(CODES, each))
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
