import type { BobbinError } from '../../../core/error/error.ts'
import {
  asClientError,
  codeInside,
  codeOfStatus,
  type FailureCode,
  providerFailure,
  retryAfter,
  statusIn,
} from '../../../model/provider-failure.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import { API } from './wire.ts'

/** Types in a body that say more than its status, and all there is when an event brings the error. */
const CODES: Readonly<Record<string, FailureCode>> = {
  api_error: 'E_PROVIDER_UNAVAILABLE',
  authentication_error: 'E_PROVIDER_AUTH',
  billing_error: 'E_PROVIDER_AUTH',
  invalid_request_error: 'E_PROVIDER_BAD_REQUEST',
  not_found_error: 'E_PROVIDER_NOT_FOUND',
  overloaded_error: 'E_PROVIDER_UNAVAILABLE',
  permission_error: 'E_PROVIDER_AUTH',
  rate_limit_error: 'E_PROVIDER_RATE_LIMITED',
  request_too_large: 'E_PROVIDER_CONTEXT_TOO_LONG',
  timeout_error: 'E_PROVIDER_UNAVAILABLE',
}

// The provider has no code for this, only the message.
const TOO_LONG = /prompt is too long|exceed(?:s|ed)? (?:the )?(?:model's )?context/i

/** The error in a body or an error event. `status` is absent after HTTP 200. */
export function failureOfBody(body: unknown, status?: number): BobbinError {
  const facts = factsOf(body, status)
  return providerFailure(facts.code, facts.facts)
}

/** Any error of the `@anthropic-ai/sdk` client, known by shape, so that no copy of it is needed. */
export function failureOfClient(error: unknown): BobbinError {
  const { status, error: body, message, headers } = asClientError(error)
  if (typeof status !== 'number') {
    // The client reports an error event of a stream without a status, but with its body.
    if (asObject(asObject(body)?.['error']) !== undefined) return failureOfBody(body)
    return providerFailure('E_PROVIDER_UNREACHABLE', { api: API, message: String(message) }, error)
  }
  const { code, facts } = factsOf(body ?? { message }, status)
  const retryAfterMs = retryAfter(headers)
  const delay = retryAfterMs === undefined ? {} : { retryAfterMs }
  return providerFailure(code, { ...facts, ...delay }, error)
}

function factsOf(body: unknown, status: number | undefined) {
  const outer = asObject(body)
  const inner = asObject(outer?.['error']) ?? outer
  const type = asText(inner?.['type'])
  const errorCode = asText(asObject(inner?.['details'])?.['error_code'])
  const message = asText(inner?.['message']) ?? 'the request failed without saying why'
  const providerCode = errorCode ?? type
  const inside = status ?? statusIn(inner, outer)
  return {
    code: codeOf(type, message, status, inside),
    facts: {
      api: API,
      message,
      ...(inside !== undefined && { status: inside }),
      ...(providerCode !== undefined && { providerCode }),
    },
  }
}

function codeOf(
  type: string | undefined,
  message: string,
  status: number | undefined,
  inside: number | undefined,
): FailureCode {
  if (type === 'invalid_request_error' && TOO_LONG.test(message)) {
    return 'E_PROVIDER_CONTEXT_TOO_LONG'
  }
  const known = type !== undefined && Object.hasOwn(CODES, type) ? CODES[type] : undefined
  return status === undefined ? codeInside(inside, known) : (known ?? codeOfStatus(status))
}
