import { brief } from '../../core/error/cut-text.ts'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { textOf } from './s3-xml.ts'

/** An answer that is not a success. */
export interface Refusal {
  readonly status: number
  /** The server's own word, such as `AccessDenied`; the status when it gives none. */
  readonly code: string
  /** What the server said, cut. */
  readonly message: string
}

/** Reads the error that an answer holds. */
export function refusalOf(status: number, body: string): Refusal {
  const code = /^[\w.]{1,60}$/.exec(textOf(body, 'Code') ?? '')?.[0] ?? BY_STATUS[status]
  const message = brief((textOf(body, 'Message') ?? '').replace(/\s+/g, ' ').toWellFormed(), 300)
  return { status, code: code ?? `status ${status}`, message }
}

/** `HEAD` has no body, so that its status is all there is. */
const BY_STATUS: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  412: 'PreconditionFailed',
}

/** True for what may succeed when it is asked again. */
export function isTransient({ status, code }: Refusal): boolean {
  return (
    status >= 500 ||
    status === 429 ||
    code === 'RequestTimeout' ||
    code === 'OperationAborted' ||
    code === 'ConditionalRequestConflict'
  )
}

/** The request to the server, for a message. */
export type Doing = 'read' | 'write'

/** The server refused. */
export function refused(doing: Doing, { code, message, status }: Refusal, bucket: string): Error {
  const said = message === '' ? `status ${status}` : message
  const way = WAY_OUT[code]?.(bucket) ?? `It said: ${said}`
  return spoolFailed(doing, code, `The S3 server refused to ${doing} the spool (${code}). ${way}`)
}

/** The server could not be reached, or gave no answer in time. */
export function unreachable(doing: Doing, origin: string, cause: unknown): Error {
  const reason = reasonOf(cause)
  const message = `The S3 server at ${origin} gave no answer (${reason}). Check \`endpoint\`, and that the server runs.`
  return spoolFailed(doing, reason, message, cause)
}

export function spoolFailed(doing: Doing, reason: string, message: string, cause?: unknown): Error {
  const code = doing === 'read' ? 'E_SPOOL_READ_FAILED' : 'E_SPOOL_WRITE_FAILED'
  return new BobbinError(code, message, { reason }, cause === undefined ? {} : { cause })
}

const WAY_OUT: Readonly<Record<string, (bucket: string) => string>> = {
  NoSuchBucket: (bucket) => `There is no bucket \`${bucket}\`: make it, or correct \`bucket\`.`,
  AccessDenied: (bucket) =>
    `The key may not do this in \`${bucket}\`: it needs GetObject, PutObject, DeleteObject, ListBucket and the multipart permissions.`,
  InvalidAccessKeyId: () => 'The server does not know `accessKeyId`.',
  SignatureDoesNotMatch: () => 'Check `secretAccessKey` and `region`.',
  ExpiredToken: () => 'The credentials have expired: pass new ones.',
  RequestTimeTooSkewed: () => "This machine's clock is too far from the server's: set it.",
  PermanentRedirect: () =>
    'The bucket is in another region: set `region` and `endpoint` to its own.',
  TemporaryRedirect: () =>
    'The bucket is in another region: set `region` and `endpoint` to its own.',
  AuthorizationHeaderMalformed: () => 'Set `region` to the region of the bucket.',
  QuotaExceeded: () => 'The quota of the bucket is used up: sweep the spool, or raise it.',
}

/** The short word for a failed connection: the code of the system, or what was thrown. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code: unknown = (cause as { code?: unknown } | null)?.code
  if (typeof code === 'string') return brief(code, 40)
  return cause instanceof Error && cause.name === 'TimeoutError'
    ? 'no answer in time'
    : brief(thrownText(cause), 100)
}
