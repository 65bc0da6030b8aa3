import type { BobbinError } from '../../../core/error/error.ts'
import { thrownText } from '../../../core/error/thrown-text.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  codeOfStatus,
  type FailureCode,
  providerFailure,
  retryAfter,
} from '../../../model/provider-failure.ts'
import { broken } from '../../../model/sse.ts'
import { asObject, asText } from '../../../model/wire/wire-value.ts'
import { API } from './wire.ts'

/** Names of errors that say more than their status, and all there is when a stream brings the error. */
const CODES: Readonly<Record<string, FailureCode>> = {
  AccessDeniedException: 'E_PROVIDER_AUTH',
  ConflictException: 'E_PROVIDER_UNAVAILABLE',
  CredentialsProviderError: 'E_PROVIDER_AUTH',
  ExpiredTokenException: 'E_PROVIDER_AUTH',
  IncompleteSignatureException: 'E_PROVIDER_AUTH',
  InternalServerException: 'E_PROVIDER_UNAVAILABLE',
  InvalidSignatureException: 'E_PROVIDER_AUTH',
  ModelErrorException: 'E_PROVIDER_UNAVAILABLE',
  ModelNotReadyException: 'E_PROVIDER_UNAVAILABLE',
  ModelStreamErrorException: 'E_PROVIDER_UNAVAILABLE',
  ModelTimeoutException: 'E_PROVIDER_UNAVAILABLE',
  ResourceNotFoundException: 'E_PROVIDER_NOT_FOUND',
  ServiceQuotaExceededException: 'E_PROVIDER_RATE_LIMITED',
  ServiceUnavailableException: 'E_PROVIDER_UNAVAILABLE',
  ThrottlingException: 'E_PROVIDER_RATE_LIMITED',
  UnrecognizedClientException: 'E_PROVIDER_AUTH',
  ValidationException: 'E_PROVIDER_BAD_REQUEST',
}

// The provider has no code for this, only the message; each model has words of its own.
const TOO_LONG =
  /(?:input|prompt) is too long|too many (?:input )?tokens|exceed(?:s|ed)? (?:the )?(?:model'?s? )?(?:maximum )?context|maximum context length|input length and `?max_tokens`? exceed/i

/** What the client says when the bytes of a stream are not what they must be. */
const FRAMES: readonly (readonly [RegExp, Parameters<typeof broken>[0], string])[] = [
  [/truncated event message/i, 'cut', 'it ended within an event'],
  [/checksum|message length/i, 'unexpected-event', 'the frame of an event is damaged'],
]

/** The error that a stream holds in place of an event; undefined for anything else. */
export function failureInside(event: object): BobbinError | undefined {
  const [name, value] = Object.entries(event).find(([key, body]) => isException(key, body)) ?? []
  if (name === undefined) return undefined
  // A client that throws it writes the name with a capital.
  return failureOf(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, value)
}

const isException = (name: string, body: unknown) =>
  name.endsWith('Exception') && asObject(body) !== undefined

/** Any error of the `@aws-sdk/client-bedrock-runtime` client, known by shape, so that no copy of it is needed. */
export function failureOfClient(error: unknown): BobbinError {
  const thrown = asObject(error)
  const name = asText(thrown?.['name']) ?? ''
  if (typeof thrown?.['status'] === 'number') return failureOfResponse(thrown, thrown['status'])
  const named = asObject(thrown?.['$metadata'])?.['httpStatusCode']
  const status = typeof named === 'number' ? named : undefined
  // The client cannot read every body, such as that of a proxy.
  const isRefused = status !== undefined && status >= 400
  if (isRefused || thrown?.['$fault'] !== undefined || Object.hasOwn(CODES, name)) {
    return failureOf(name, thrown, { status, retryAfterMs: delayIn(thrown), cause: error })
  }
  const message = thrownText(error)
  if (error instanceof SyntaxError || name === 'SyntaxError') {
    return broken('not-json', 'what it holds is not JSON', error)
  }
  if (message === 'Region is missing') {
    const told = 'it has no region: give `region` to the client, or set AWS_REGION'
    return providerFailure('E_PROVIDER_BAD_REQUEST', { api: API, message: told }, error)
  }
  const frame = FRAMES.find(([pattern]) => pattern.test(message))
  if (frame !== undefined) return broken(frame[1], frame[2], error)
  return providerFailure('E_PROVIDER_UNREACHABLE', { api: API, message }, error)
}

/** The same for a response that no client has read. */
function failureOfResponse(response: JsonObject, status: number): BobbinError {
  const body = asObject(response['error'])
  // The name of the service comes before the type.
  const type = asText(body?.['__type'])?.split('#').at(-1) ?? ''
  const retryAfterMs = retryAfter(response['headers'])
  return failureOf(type, body ?? response, { status, retryAfterMs, cause: response })
}

interface FailureFrame {
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

function failureOf(name: string, thrown: unknown, frame: FailureFrame = {}): BobbinError {
  const { status, retryAfterMs, cause } = frame
  const message = asText(asObject(thrown)?.['message']) || 'the request failed without saying why'
  const facts = {
    api: API,
    message,
    ...(status !== undefined && { status }),
    ...(name !== '' && { providerCode: name }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  return providerFailure(codeOf(name, message, status), facts, cause)
}

function codeOf(name: string, message: string, status: number | undefined): FailureCode {
  if (TOO_LONG.test(message) && (status === undefined || status < 500)) {
    return 'E_PROVIDER_CONTEXT_TOO_LONG'
  }
  const known = Object.hasOwn(CODES, name) ? CODES[name] : undefined
  return known ?? (status === undefined ? 'E_PROVIDER_UNAVAILABLE' : codeOfStatus(status))
}

/** The client keeps the response beside the error. */
function delayIn(thrown: object | undefined): number | undefined {
  const response = asObject(thrown && Reflect.get(thrown, '$response'))
  const headers = asObject(response?.['headers'])
  return headers && retryAfter({ get: (name: string) => asText(headers[name]) ?? null })
}
