import type { BobbinError } from '../../core/error.ts'
import {
  asClientError,
  codeOfStatus,
  type FailureCode,
  providerFailure,
  retryAfter,
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

interface ErrorBody {
  readonly code?: unknown
  readonly type?: unknown
  readonly message?: unknown
}

/** The error that a body or an error event tells of after a status of 200. */
export function failureOfBody(api: string, body: unknown, status?: number): BobbinError {
  const { code, type, message } = asBody(body)
  const words = [code, type].filter(
    (word): word is string => typeof word === 'string' && word !== '',
  )
  const providerCode = words[0]
  const known = words.map((word) => CODES.get(word)).find((failure) => failure !== undefined)
  const unsaid = status === undefined ? 'E_PROVIDER_UNAVAILABLE' : codeOfStatus(status)
  return providerFailure(known ?? unsaid, {
    api,
    message: typeof message === 'string' ? message : 'the response failed without saying why',
    ...(status !== undefined && { status }),
    ...(providerCode !== undefined && { providerCode }),
  })
}

/** Any error of the `openai` client. Its errors are known by shape, so that no copy of it is needed. */
export function failureOfClient(api: string, error: unknown): BobbinError {
  const { status, error: body, message, headers } = asClientError(error)
  if (typeof status !== 'number') {
    return providerFailure('E_PROVIDER_UNREACHABLE', { api, message: String(message) }, error)
  }
  const failure = failureOfBody(api, body ?? { message }, status)
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

function asBody(body: unknown): ErrorBody {
  return typeof body === 'object' && body !== null ? body : { message: body }
}
