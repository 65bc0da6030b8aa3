import { BobbinError } from '../core/error.ts'
import type { ErrorCode, ProviderFailure } from '../core/error-codes.ts'

/** The codes that a provider's answer can map to. */
export type FailureCode = Extract<ErrorCode, `E_PROVIDER_${string}`>

/** What is known of a failed request, whichever client reported it. */
export interface FailureFacts {
  readonly api: string
  readonly status?: number
  /** The provider's own code or type, e.g. `rate_limit_exceeded`. */
  readonly providerCode?: string
  readonly message: string
  readonly retryAfterMs?: number
}

/** The code of a status. A provider's `fail.ts` knows better only where a body says more. */
export function codeOfStatus(status: number | undefined): FailureCode {
  if (status === undefined) return 'E_PROVIDER_UNREACHABLE'
  if (status === 401 || status === 403) return 'E_PROVIDER_AUTH'
  if (status === 404) return 'E_PROVIDER_NOT_FOUND'
  if (status === 429) return 'E_PROVIDER_RATE_LIMITED'
  if (status === 408 || status === 409 || status >= 500) return 'E_PROVIDER_UNAVAILABLE'
  return 'E_PROVIDER_BAD_REQUEST'
}

const RETRYABLE: ReadonlySet<FailureCode> = new Set([
  'E_PROVIDER_RATE_LIMITED',
  'E_PROVIDER_UNAVAILABLE',
  'E_PROVIDER_UNREACHABLE',
])

/** One error for every provider: the code says what kind, the message what the provider said. */
export function providerFailure(
  code: FailureCode,
  facts: FailureFacts,
  cause?: unknown,
): BobbinError {
  const { message, ...known } = facts
  const data: ProviderFailure = { ...known, isRetryable: RETRYABLE.has(code) }
  const status = facts.status === undefined ? '' : ` (${facts.status})`
  return new BobbinError(code, `\`${facts.api}\` answered${status}: ${message}`, data, { cause })
}
