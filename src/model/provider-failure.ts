import { BobbinError } from '../core/error/error.ts'
import type { ErrorCode, ProviderFailure } from '../core/error/error-codes.ts'
import { thrownText } from '../core/error/thrown-text.ts'
import { isObject, wrongInput } from '../core/error/wrong-input.ts'

/** The codes that a provider's answer can map to. */
export type FailureCode = Extract<ErrorCode, `E_PROVIDER_${string}`>

/** The facts of a failed request, from any client. */
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

/** The HTTP status that an error inside a response names, or else what holds it: servers have several members for it. */
export function statusIn(...holders: readonly unknown[]): number | undefined {
  const named = holders.flatMap((holder) => {
    if (typeof holder !== 'object' || holder === null) return []
    const { status_code, status, code } = holder as Readonly<Record<string, unknown>>
    return [status_code, status, code].map(Number)
  })
  return named.find((number) => number >= 400 && number < 600)
}

/**
 * The code of an error inside a response: the status that it names says whether to try again, its own words say more.
 */
export function codeInside(status: number | undefined, word: FailureCode | undefined): FailureCode {
  if (status === undefined) return word ?? 'E_PROVIDER_UNAVAILABLE'
  const code = codeOfStatus(status)
  return word !== undefined && RETRYABLE.has(word) === RETRYABLE.has(code) ? word : code
}

const RETRYABLE: ReadonlySet<FailureCode> = new Set([
  'E_PROVIDER_RATE_LIMITED',
  'E_PROVIDER_UNAVAILABLE',
  'E_PROVIDER_UNREACHABLE',
])

const isFailureCode = (code: unknown): boolean =>
  typeof code === 'string' && code.startsWith('E_PROVIDER_')

/** One error for every provider: the code says what kind, the message what the provider said. */
export function providerFailure(
  code: FailureCode,
  facts: FailureFacts,
  cause?: unknown,
): BobbinError {
  if (!isFailureCode(code)) {
    throw wrongInput('providerFailure', 'code', 'must be a code such as `E_PROVIDER_UNAVAILABLE`')
  }
  if (!isObject(facts) || typeof facts.message !== 'string' || typeof facts.api !== 'string') {
    throw wrongInput('providerFailure', 'facts', 'must be an object with `api` and `message`')
  }
  const { message: _message, ...known } = facts
  const data: ProviderFailure = { ...known, isRetryable: RETRYABLE.has(code) }
  return new BobbinError(code, sentenceOf(facts, code), data, { cause })
}

function sentenceOf({ api, status, message }: FailureFacts, code: FailureCode): string {
  if (code === 'E_PROVIDER_UNREACHABLE') return `\`${api}\` did not answer: ${message}`
  if (status === undefined) return `\`${api}\` answered: ${message}`
  // Some clients put the status before the provider's words.
  const said = message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message
  return `\`${api}\` answered (${status}): ${said}`
}

/** What the official clients' errors hold. They are known by shape, so that no copy of one is needed. */
export interface ClientError {
  readonly status?: unknown
  readonly error?: unknown
  readonly message?: unknown
  readonly headers?: unknown
}

/** Anything thrown by a client, in the form that its errors have. */
export function asClientError(error: unknown): ClientError {
  return typeof error === 'object' && error !== null ? error : { message: error }
}

/** How long the provider asks to wait, in milliseconds; undefined when its headers do not say. */
export function retryAfter(headers: unknown): number | undefined {
  const get = (headers as Partial<Pick<Headers, 'get'>> | null | undefined)?.get
  if (typeof get !== 'function') return undefined
  const delay = (name: string, unit: number) => {
    const text = get.call(headers, name)
    return typeof text === 'string' && /^\d+(\.\d+)?$/.test(text) ? Number(text) * unit : undefined
  }
  return delay('retry-after-ms', 1) ?? delay('retry-after', 1000)
}

/** Any error of a client, by its status alone; none means that the server did not answer. */
export function clientFailure(api: string, error: unknown): BobbinError {
  if (typeof api !== 'string' || api === '') {
    throw wrongInput('clientFailure', 'api', 'must be the name of a protocol')
  }
  const { status, error: body, message, headers } = asClientError(error)
  const code = codeOfStatus(typeof status === 'number' ? status : undefined)
  const retryAfterMs = retryAfter(headers)
  const facts = {
    api,
    message: messageIn(body) ?? thrownText(message),
    ...(typeof status === 'number' && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  return providerFailure(code, facts, error)
}

/** The words of a provider: `message` of the body, or of the `error` in it. */
function messageIn(body: unknown): string | undefined {
  const { error, message } = (body ?? {}) as {
    readonly error?: unknown
    readonly message?: unknown
  }
  if (typeof message === 'string') return message
  return typeof error === 'string' ? error : error === undefined ? undefined : messageIn(error)
}
