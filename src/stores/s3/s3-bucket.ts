import { type Doing, refusalOf, refused, spoolFailed } from './s3-errors.ts'
import { type S3Answer, type SendS3, SHORT_ANSWER, textIn } from './s3-requests.ts'
import { completion, elements, textOf } from './s3-xml.ts'

/** What `HEAD` says of an object. */
export interface ObjectFacts {
  readonly size: number
  /** When it was written, by the clock of the writer; 0 when nothing says so. */
  readonly writtenAt: number
}

/** An entry of a list. */
export interface ListedObject {
  readonly key: string
  readonly size: number
}

/** An upload that was not completed. */
export interface OpenUpload {
  readonly key: string
  readonly id: string
}

/** An upload of a list, and how long ago it began by the server's clock. */
export interface ListedUpload extends OpenUpload {
  readonly ageMs: number
}

interface Put {
  readonly writtenAt: number
  /** Writes only where nothing lies; true if it did. */
  readonly onlyNew?: boolean
  readonly signal?: AbortSignal | undefined
}

const WRITTEN = 'x-amz-meta-bobbin-written'
/** A copy in one request could be larger, but has to be done before its time is up. */
const COPY_BYTES = 64 * 1024 * 1024
const LIST_BYTES = 16 * 1024 * 1024

/** The requests of S3 that a spool needs. */
export type S3Bucket = ReturnType<typeof s3Bucket>

export function s3Bucket(send: SendS3, bucket: string, encryption: Record<string, string>) {
  const aboutNew = (writtenAt: number) => ({
    ...encryption,
    [WRITTEN]: String(writtenAt),
    'content-type': 'application/octet-stream',
  })

  async function begin(key: string, writtenAt: number): Promise<string> {
    const { body } = await send({
      doing: 'write',
      method: 'POST',
      key,
      query: { uploads: '' },
      headers: aboutNew(writtenAt),
      limit: SHORT_ANSWER,
    })
    return given(textOf(textIn(body), 'UploadId'), 'UploadId')
  }

  async function abandon({ key, id }: OpenUpload): Promise<void> {
    const query = { uploadId: id }
    const expected = [404]
    await send({ doing: 'write', method: 'DELETE', key, query, expected, limit: SHORT_ANSWER })
  }

  async function complete(key: string, upload: string, etags: readonly string[]): Promise<void> {
    const { status, again } = await send({
      doing: 'write',
      method: 'POST',
      key,
      query: { uploadId: upload },
      body: completion(etags),
      expected: [404],
      limit: SHORT_ANSWER,
    })
    // Where the answer to the first attempt was lost, the second finds no upload.
    if (status === 404 && !(again && (await head(key)))) {
      throw spoolFailed(
        'write',
        'NoSuchUpload',
        'The S3 server has dropped the upload of a spool. Write it again.',
      )
    }
  }

  async function head(key: string, doing: Doing = 'read'): Promise<ObjectFacts | undefined> {
    const request = { doing, key, limit: 0, expected: [400, 403, 404] } as const
    const { status, headers } = await send({ ...request, method: 'HEAD' })
    // An answer to `HEAD` has no body; the same question with `GET` says what is wrong.
    if (status >= 300) {
      await get(key, 0, 1, doing)
      return undefined
    }
    return {
      size: Number(headers.get('content-length') ?? 0),
      writtenAt: Number(
        headers.get(WRITTEN) ?? Date.parse(headers.get('last-modified') ?? '1970-01-01'),
      ),
    }
  }

  /** The bytes from `start` to `end`; undefined if there is no such object. */
  async function get(
    key: string,
    start: number,
    end: number,
    doing: Doing = 'read',
    signal?: AbortSignal,
  ) {
    const { status, body } = await send({
      doing,
      method: 'GET',
      key,
      headers: { range: `bytes=${start}-${end - 1}` },
      expected: [404, 416],
      limit: end - start,
      ...(signal && { signal }),
    })
    if (status === 416) return new Uint8Array()
    if (status !== 404) return body
    const refusal = refusalOf(status, textIn(body))
    if (refusal.code === 'NoSuchBucket') throw refused(doing, refusal, bucket)
    return undefined
  }

  return {
    begin,
    complete,
    head,
    get,

    async put(key: string, body: Uint8Array, { writtenAt, onlyNew, signal }: Put) {
      const headers = { ...aboutNew(writtenAt), ...(onlyNew && { 'if-none-match': '*' }) }
      const { status } = await send({
        doing: 'write',
        method: 'PUT',
        key,
        headers,
        body,
        expected: onlyNew ? [412] : [],
        limit: SHORT_ANSWER,
        ...(signal && { signal }),
      })
      return status !== 412
    },

    async putPart(
      key: string,
      upload: string,
      number: number,
      body: Uint8Array,
      signal?: AbortSignal,
    ) {
      const answer = await send({
        doing: 'write',
        method: 'PUT',
        key,
        query: { partNumber: String(number), uploadId: upload },
        body,
        limit: SHORT_ANSWER,
        ...(signal && { signal }),
      })
      return etagOf(answer)
    },

    /** Copies an object inside the server, in the place of whatever lies at `to`. */
    async copy(from: string, to: string, size: number, writtenAt: number) {
      const source = { 'x-amz-copy-source': `/${bucket}/${from}` }
      if (size <= COPY_BYTES) {
        const headers = { ...aboutNew(writtenAt), ...source, 'x-amz-metadata-directive': 'REPLACE' }
        await send({ doing: 'write', method: 'PUT', key: to, headers, limit: SHORT_ANSWER })
        return
      }
      const upload = await begin(to, writtenAt)
      try {
        const etags: string[] = []
        for (let at = 0; at < size; at += COPY_BYTES) {
          const range = `bytes=${at}-${Math.min(size, at + COPY_BYTES) - 1}`
          const { body } = await send({
            doing: 'write',
            method: 'PUT',
            key: to,
            query: { partNumber: String(etags.length + 1), uploadId: upload },
            headers: { ...source, 'x-amz-copy-source-range': range },
            limit: SHORT_ANSWER,
          })
          etags.push(given(textOf(textIn(body), 'ETag'), 'ETag'))
        }
        await complete(to, upload, etags)
      } catch (error) {
        // A failure is ignored: the next sweep removes it, and the first error is the one to report.
        await abandon({ key: to, id: upload }).catch(() => undefined)
        throw error
      }
    },

    async remove(key: string) {
      await send({ doing: 'write', method: 'DELETE', key, expected: [404], limit: SHORT_ANSWER })
    },

    abandon,

    /** Every object whose key begins with `prefix`, in the order of the keys. */
    async *list(prefix: string): AsyncGenerator<ListedObject> {
      for (let token: string | undefined; ; ) {
        const query = {
          'list-type': '2',
          prefix,
          ...(token !== undefined && { 'continuation-token': token }),
        }
        const { body } = await send({ doing: 'read', method: 'GET', query, limit: LIST_BYTES })
        const page = textIn(body)
        for (const each of elements(page, 'Contents')) {
          yield { key: textOf(each, 'Key') ?? '', size: Number(textOf(each, 'Size') ?? 0) }
        }
        const next = textOf(page, 'NextContinuationToken')
        if (textOf(page, 'IsTruncated') !== 'true' || next === undefined) return
        if (next === token) throw repeatedPage()
        token = next
      }
    },

    /** Every upload under `prefix` that was not completed. */
    async *uploads(prefix: string): AsyncGenerator<ListedUpload> {
      for (let after: Record<string, string> = {}; ; ) {
        const query = { uploads: '', prefix, ...after }
        const answer = await send({ doing: 'read', method: 'GET', query, limit: LIST_BYTES })
        const page = textIn(answer.body)
        const now = Date.parse(answer.headers.get('date') ?? '')
        for (const each of elements(page, 'Upload')) {
          const ageMs = now - Date.parse(textOf(each, 'Initiated') ?? '')
          yield { key: textOf(each, 'Key') ?? '', id: textOf(each, 'UploadId') ?? '', ageMs }
        }
        const key = textOf(page, 'NextKeyMarker')
        const upload = textOf(page, 'NextUploadIdMarker')
        if (textOf(page, 'IsTruncated') !== 'true' || key === undefined) return
        if (key === after['key-marker'] && upload === after['upload-id-marker'])
          throw repeatedPage()
        after = { 'key-marker': key, ...(upload !== undefined && { 'upload-id-marker': upload }) }
      }
    },

    /** How long ago the last part of an upload came, by the server's clock; undefined if it has none. */
    async sinceLastPart({
      key,
      id,
    }: OpenUpload): Promise<{ ms: number; bytes: number } | undefined> {
      let [newest, bytes] = [Number.NEGATIVE_INFINITY, 0]
      for (let after = '0'; ; ) {
        const query = { uploadId: id, 'part-number-marker': after }
        const answer = await send({
          doing: 'read',
          method: 'GET',
          key,
          query,
          expected: [404],
          limit: LIST_BYTES,
        })
        if (answer.status === 404) return undefined
        const page = textIn(answer.body)
        for (const each of elements(page, 'Part')) {
          newest = Math.max(newest, Date.parse(textOf(each, 'LastModified') ?? ''))
          bytes += Number(textOf(each, 'Size') ?? 0)
        }
        const next = textOf(page, 'NextPartNumberMarker')
        if (textOf(page, 'IsTruncated') !== 'true' || next === undefined || next === after) {
          const now = Date.parse(answer.headers.get('date') ?? '')
          return { ms: now - newest, bytes }
        }
        after = next
      }
    },
  }
}

const etagOf = ({ headers }: S3Answer) => given(headers.get('etag') ?? undefined, 'ETag')

/** A server that gives the same page again would be asked without end. */
const repeatedPage = () =>
  spoolFailed(
    'read',
    'repeated page',
    'The S3 server gives the same page of a list again and again.',
  )

function given(value: string | undefined, name: string): string {
  if (value !== undefined && value !== '') return value
  const message = `The answer of the S3 server has no \`${name}\`. Check that \`endpoint\` speaks the S3 protocol.`
  throw spoolFailed('write', `no ${name}`, message)
}
