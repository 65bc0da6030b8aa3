import { sha256Hex } from '#hash'
import { delay } from '../../core/delay.ts'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import {
  type Doing,
  isTransient,
  type Refusal,
  refusalOf,
  refused,
  unreachable,
} from './s3-errors.ts'

/** Sends a signed request: an `AwsClient` of `aws4fetch`, or anything that signs for S3. */
export interface S3Client {
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** One request. Each may be sent again: none of them does something else the second time. */
export interface S3Request {
  readonly doing: Doing
  readonly method: 'GET' | 'PUT' | 'HEAD' | 'POST' | 'DELETE'
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** Statuses that are answers, not failures. */
  readonly expected?: readonly number[]
  /** The most bytes that the answer may have. */
  readonly limit: number
  readonly signal?: AbortSignal
}

/** A whole answer: nothing of it is still on its way. */
export interface S3Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
  /** True when an earlier attempt of the same request may have been carried out. */
  readonly again: boolean
}

/** Where requests go. */
export interface S3Server {
  readonly client: () => Promise<S3Client>
  /** The address of the bucket, without a slash at its end. */
  readonly address: string
  readonly bucket: string
  /** How long failures that may pass are retried. */
  readonly retryTimeoutMs: number
}

const ATTEMPT_TIMEOUT_MS = 60_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000
const ERROR_BYTES = 65_536

/** Sends requests until they are answered, refused for good, or the time for retries is up. */
export function s3Requests({ client, address, bucket, retryTimeoutMs }: S3Server) {
  return async function send(request: S3Request): Promise<S3Answer> {
    const { doing, expected = [], signal } = request
    const sender = await client()
    const until = performance.now() + retryTimeoutMs
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      let refusal: Refusal
      try {
        const answer = await attemptOnce(sender, address, request)
        const body = answer.body.subarray(0, ERROR_BYTES)
        const isDone = answer.status < 300 && !saysError(request, body)
        if (isDone || expected.includes(answer.status)) return { ...answer, again: attempt > 0 }
        refusal = refusalOf(answer.status < 300 ? 500 : answer.status, textIn(body))
        if (!isTransient(refusal) || performance.now() > until)
          throw refused(doing, refusal, bucket)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof BobbinError) throw error
        if (performance.now() > until) throw unreachable(doing, new URL(address).origin, error)
      }
      await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), signal)
    }
  }
}

export type SendS3 = ReturnType<typeof s3Requests>

/** A copy and a completion may fail after their status was sent; then the body says so. */
const saysError = ({ method, key, limit }: S3Request, body: Uint8Array) =>
  key !== undefined &&
  limit === ERROR_BYTES &&
  (method === 'POST' || method === 'PUT') &&
  textIn(body).includes('<Error>')

async function attemptOnce(client: S3Client, address: string, request: S3Request) {
  const { method, key, query, headers, body, limit, signal } = request
  const path = key === undefined ? '' : `/${key}`
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
  const timeout = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)
  const response = await client.fetch(`${address}${path}${search.replaceAll('+', '%20')}`, {
    method,
    headers: { ...headers, 'x-amz-content-sha256': sha256Hex(body ?? '') },
    ...(body !== undefined && { body: body as BodyInit }),
    // A redirection would take the signature elsewhere.
    redirect: 'manual',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  })
  const isFailure = response.status >= 300
  return {
    status: response.status,
    headers: response.headers,
    body: await readAtMost(response, isFailure ? ERROR_BYTES : limit, isFailure),
  }
}

/** The body of an answer, in one piece. More than was asked for is refused, or cut where it is an error's. */
async function readAtMost(response: Response, limit: number, cut: boolean): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    parts.push(part)
    length += part.length
    if (length <= limit) continue
    if (cut) break
    throw new Error(`the answer has more than the ${limit} bytes that were asked for`)
  }
  return Buffer.concat(parts)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const random = ms / 2 + (Math.random() * ms) / 2
  await delay(random, signal)
}

export const textIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** The limit of answers that are short texts. */
export const SHORT_ANSWER = ERROR_BYTES

/** The used part of `aws4fetch`. Its own types need those of a browser, which an application may not have. */
type Signer = new (options: {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly region: string
  readonly service: 's3'
  readonly retries: number
}) => S3Client

/** Loads the `aws4fetch` package, which only users of S3 install. */
export async function loadSigner(): Promise<Signer> {
  try {
    return (await import('aws4fetch')).AwsClient
  } catch (cause) {
    const message = 'The `aws4fetch` package was not found: run `npm install aws4fetch`.'
    const reason = `no aws4fetch: ${thrownText(cause)}`
    throw new BobbinError('E_SPOOL_READ_FAILED', message, { reason }, { cause })
  }
}
