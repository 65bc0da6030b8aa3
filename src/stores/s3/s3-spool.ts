import { type Clock, systemClock } from '../../core/clock.ts'
import { requireOptions, wrongInput } from '../../core/error/wrong-input.ts'
import { randomId } from '../../core/ids.ts'
import { assertDigest } from '../../spool/digest-name.ts'
import { indexedReader } from '../../spool/indexed-reader.ts'
import type { LineIndex } from '../../spool/line-index.ts'
import { assertGrace, assertLive, assertQuota } from '../../spool/spool-settings.ts'
import { DEFAULT_GRACE_MS, type SpoolStore } from '../../spool/spool-store.ts'
import { holdErrors } from '../../spool/unread-stream.ts'
import { wind } from '../../spool/wind.ts'
import { blockCache } from '../fs/block-cache.ts'
import { oneAtATime } from '../fs/one-at-a-time.ts'
import { quotaOf } from '../fs/quota.ts'
import { s3Bucket } from './s3-bucket.ts'
import { parseKey, spoolKeys, temporaryKey } from './s3-keys.ts'
import { loadSigner, type S3Client, s3Requests } from './s3-requests.ts'
import { openIndex, s3Source } from './s3-source.ts'
import { sweepBucket } from './s3-sweep.ts'
import { placeSpool, stagedBytes } from './s3-write.ts'

export type { S3Client } from './s3-requests.ts'

/** Where the bucket is, with which key it is used, and how the spool is bounded. */
export interface S3SpoolOptions {
  readonly bucket: string
  /** The address of the server, as in `https://s3.eu-central-1.amazonaws.com`; that of AWS in `region` unless given. */
  readonly endpoint?: string
  /** `us-east-1` unless given. */
  readonly region?: string
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
  readonly sessionToken?: string
  /** Signs and sends requests instead: an `AwsClient` of `aws4fetch` with credentials of your own. */
  readonly client?: S3Client
  /** What stands before every key, such as `agents/production`. */
  readonly prefix?: string
  /** Whose spools these are; tenants share the bucket and nothing else. */
  readonly tenant?: string
  /**
   * The most bytes of content this tenant may store; a write that would exceed it is refused. Each process counts what
   * is there at its first write and what it writes itself: it does not see what another process writes meanwhile.
   */
  readonly quotaBytes?: number
  /** How the server encrypts what it stores; as the bucket is set unless given. */
  readonly encryption?: { readonly algorithm: 'AES256' | 'aws:kms'; readonly keyId?: string }
  /** How long failures that may pass are retried; 10,000 ms unless given. */
  readonly retryTimeoutMs?: number
  readonly clock?: Clock
}

const OPTIONS = [
  ...['bucket', 'endpoint', 'region', 'accessKeyId', 'secretAccessKey', 'sessionToken', 'client'],
  ...['prefix', 'tenant', 'quotaBytes', 'encryption', 'retryTimeoutMs', 'clock'],
]

/** A spool in a bucket, and its end. */
export interface S3Spool extends SpoolStore {
  /** The spool cannot be used afterwards. */
  close(): Promise<void>
}

/** How many verified blocks a store keeps at hand: 8 MB. */
const CACHED_BLOCKS = 32

/** A durable, content-addressed spool in a bucket of S3, or of a server that speaks its protocol. */
export function s3Spool(options: S3SpoolOptions): S3Spool {
  requireOptions('s3Spool', options, OPTIONS)
  const { bucket: name, clock = systemClock, quotaBytes, retryTimeoutMs = 10_000 } = options
  if (typeof name !== 'string' || !/^[a-z0-9][\w.-]{1,61}[a-z0-9]$/i.test(name)) {
    throw wrongInput('s3Spool', 'bucket', 'must be the name of a bucket')
  }
  if (!(retryTimeoutMs >= 0)) {
    throw wrongInput('s3Spool', 'retryTimeoutMs', 'must be a number of milliseconds from 0 on')
  }
  const keys = spoolKeys(options.prefix, options.tenant)
  const limit = quotaBytes === undefined ? undefined : assertQuota(quotaBytes)
  const address = `${addressOf(options)}/${name}`
  const client = clientFrom(options)
  let isClosed = false
  const send = s3Requests({ client, address, bucket: name, retryTimeoutMs })
  const bucket = s3Bucket(
    (request) => {
      if (isClosed) throw wrongInput('s3Spool', '', 'was closed')
      return send(request)
    },
    name,
    encryptionHeaders(options.encryption),
  )
  const cache = blockCache(CACHED_BLOCKS)
  async function* stored() {
    for await (const { key, size } of bucket.list(keys.own)) {
      const parsed = parseKey(keys, key)
      if (parsed?.part === 'blob') yield { digest: parsed.digest, size }
    }
  }
  const quota = quotaOf(limit, stored, oneAtATime())
  /** The temporary keys of writes that are not over. */
  const underWay = new Set<string>()
  const readerOf = (index: LineIndex) =>
    indexedReader(index, s3Source(index, { bucket, keys, cache }))

  return {
    durable: true,

    async write(data, how) {
      const signal = how?.signal
      holdErrors(data)
      signal?.throwIfAborted()
      const reservation = await quota.reserve()
      const startedAt = clock.now()
      const temporary = temporaryKey(keys, startedAt, randomId())
      const staged = stagedBytes(bucket, temporary, startedAt, signal)
      underWay.add(temporary)
      try {
        const index = await wind(data, {
          ...(signal && { signal }),
          async put(block) {
            reservation.add(block.length)
            await staged.add(block)
          },
        })
        const content = await staged.end()
        signal?.throwIfAborted()
        const place = { temporary, now: () => clock.now() }
        reservation.settle(await placeSpool(bucket, keys, content, index, place))
        return readerOf(index)
      } finally {
        reservation.release()
        await staged.discard()
        underWay.delete(temporary)
      }
    },

    read: async (digest) => readerOf(await openIndex(bucket, keys, assertDigest(digest))),

    async delete(digest) {
      const facts = await bucket.head(keys.blob(assertDigest(digest)))
      if (facts === undefined) return false
      await bucket.remove(keys.blob(digest))
      quota.free(facts.size)
      await bucket.remove(keys.lines(digest))
      return true
    },

    async *digests() {
      for await (const { digest } of stored()) yield digest
    },

    async sweep(live, { graceMs = DEFAULT_GRACE_MS } = {}) {
      assertLive(live)
      return sweepBucket(bucket, keys, {
        live,
        now: clock.now(),
        graceMs: assertGrace(graceMs),
        isUnderWay: (key) => underWay.has(key),
        onDeleted: (size) => quota.free(size),
      })
    },

    async close() {
      isClosed = true
    },
  }
}

function addressOf({ endpoint, region = 'us-east-1' }: S3SpoolOptions): string {
  if (typeof region !== 'string' || !/^[\w-]{1,60}$/.test(region)) {
    throw wrongInput('s3Spool', 'region', 'must be the name of a region, such as `eu-central-1`')
  }
  const text = endpoint === undefined ? `https://s3.${region}.amazonaws.com` : endpoint
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.search === '' && url.hash === '' && url.username === ''
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    const rule = 'must be an address with `https:` or `http:`, without a query or a password'
    throw wrongInput('s3Spool', 'endpoint', rule)
  }
  return url.href.replace(/\/+$/, '')
}

/** The client of the application, or one with its key. */
function clientFrom(options: S3SpoolOptions): () => Promise<S3Client> {
  const { client, accessKeyId, secretAccessKey, sessionToken, region = 'us-east-1' } = options
  if (client !== undefined) {
    if (typeof client?.fetch !== 'function') {
      throw wrongInput(
        's3Spool',
        'client',
        'must have a method `fetch` that signs, as an `AwsClient` of `aws4fetch` has',
      )
    }
    return async () => client
  }
  for (const [name, value] of Object.entries({ accessKeyId, secretAccessKey })) {
    if (typeof value === 'string' && value !== '') continue
    throw wrongInput('s3Spool', name, 'must be given as a string, unless `client` is given')
  }
  let loading: Promise<S3Client> | undefined
  return () => {
    loading ??= loadSigner().then((AwsClient) => {
      const key = { accessKeyId: accessKeyId as string, secretAccessKey: secretAccessKey as string }
      const token = sessionToken === undefined ? {} : { sessionToken }
      // Retries are ours: a connection that fails is retried too.
      return new AwsClient({ ...key, ...token, region, service: 's3', retries: 0 })
    })
    return loading
  }
}

function encryptionHeaders(encryption: S3SpoolOptions['encryption']): Record<string, string> {
  if (encryption === undefined) return {}
  const { algorithm, keyId } = encryption ?? {}
  if (algorithm !== 'AES256' && algorithm !== 'aws:kms') {
    throw wrongInput('s3Spool', 'encryption.algorithm', 'must be `AES256` or `aws:kms`')
  }
  if (keyId !== undefined && (algorithm !== 'aws:kms' || !/^[\w:/.-]{1,2048}$/.test(keyId))) {
    throw wrongInput(
      's3Spool',
      'encryption.keyId',
      'must be the id of a key, and goes with `aws:kms`',
    )
  }
  return {
    'x-amz-server-side-encryption': algorithm,
    ...(keyId !== undefined && { 'x-amz-server-side-encryption-aws-kms-key-id': keyId }),
  }
}
