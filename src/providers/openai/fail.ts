import type { BobbinError } from '../../core/error/error.ts'
import {
  asClientError,
  codeInside,
  codeOfStatus,
  type FailureCode,
  providerFailure,
  retryAfter,
  statusIn,
} from '../../model/provider-failure.ts'

/** Codes in a body that say more than its status. */
const CODES: ReadonlyMap<string, FailureCode> = new Map<string, FailureCode>([
  ['context_length_exceeded', 'E_PROVIDER_CONTEXT_TOO_LONG'],
  ['rate_limit_exceeded', 'E_PROVIDER_RATE_LIMITED'],
  ['insufficient_quota', 'E_PROVIDER_RATE_LIMITED'],
  ['server_error', 'E_PROVIDER_UNAVAILABLE'],
  ['server_is_overloaded', 'E_PROVIDER_UNAVAILABLE'],
  ['slow_down', 'E_PROVIDER_UNAVAILABLE'],
  ['vector_store_timeout', 'E_PROVIDER_UNAVAILABLE'],
  ['invalid_api_key', 'E_PROVIDER_AUTH'],
  ['model_not_found', 'E_PROVIDER_NOT_FOUND'],
])

/** Words for a request that will be refused again. They count only where nothing names a status. */
const REFUSALS = new Set(['invalid_request_error', 'tool_use_failed'])

function refusalOf(words: readonly string[]): FailureCode | undefined {
  return words.some((word) => REFUSALS.has(word)) ? 'E_PROVIDER_BAD_REQUEST' : undefined
}

interface ErrorBody {
  readonly code?: unknown
  readonly type?: unknown
  readonly message?: unknown
}

/** The error in a body. After status 200, the error or the event that holds it (`holder`) may name the real status. */
export function failureOfBody(
  api: string,
  body: unknown,
  { status, holder }: { readonly status?: number; readonly holder?: unknown } = {},
): BobbinError {
  const { code, type, message } = asBody(body)
  const words = [code, type].filter(
    (word): word is string => typeof word === 'string' && word !== '',
  )
  const providerCode = words[0]
  const known = words.map((word) => CODES.get(word)).find((failure) => failure !== undefined)
  const inside = status ?? statusIn(body, holder)
  const failure =
    status === undefined
      ? codeInside(inside, known ?? (inside === undefined ? refusalOf(words) : undefined))
      : (known ?? codeOfStatus(status))
  return providerFailure(failure, {
    api,
    message: saidIn(message) ?? 'the response failed without saying why',
    ...(inside !== undefined && { status: inside }),
    ...(providerCode !== undefined && { providerCode }),
  })
}

/** Any error of the `openai` client. Its errors are known by shape, so that no copy of it is needed. */
export function failureOfClient(api: string, error: unknown): BobbinError {
  const { status, error: body, message, headers } = asClientError(error)
  if (typeof status !== 'number') {
    return providerFailure('E_PROVIDER_UNREACHABLE', { api, message: String(message) }, error)
  }
  const failure = failureOfBody(api, body ?? { message }, { status })
  const retryAfterMs = retryAfter(headers)
  return providerFailure(
    failure.code as FailureCode,
    {
      ...(failure.data as object),
      api,
      status,
      message: String(message),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
    error,
  )
}

/** Some servers put a list of what was wrong where others put a text. */
function saidIn(message: unknown): string | undefined {
  if (typeof message === 'string') return message
  return typeof message === 'object' && message !== null ? JSON.stringify(message) : undefined
}

function asBody(body: unknown): ErrorBody {
  return typeof body === 'object' && body !== null ? body : { message: body }
}
