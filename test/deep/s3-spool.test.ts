import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLines } from '../../src/spool/read-lines.ts'
import { searchSpool } from '../../src/spool/search/search.ts'
import { type S3Client, type S3SpoolOptions, s3Spool } from '../../src/stores/s3/index.ts'
import { spoolConformance } from '../../src/testing/spool-conformance.ts'
import { type RadosServer, radosServer } from '../s3/rados-server.ts'

let server: RadosServer
let spools = 0
const BUCKET = 'spools'
const open = (options: Partial<S3SpoolOptions> = {}) => {
  const { endpoint, accessKeyId, secretAccessKey } = server
  const prefix = `spool-${++spools}`
  return s3Spool({ endpoint, accessKeyId, secretAccessKey, bucket: BUCKET, prefix, ...options })
}

beforeAll(async () => {
  server = await radosServer()
  await server.makeBucket(BUCKET)
}, 180_000)
afterAll(() => server?.remove(), 30_000)

describe('s3Spool', () => {
  for (const { name, run } of spoolConformance((options) => open(options))) it(name, run)

  it('keeps tenants apart', async () => {
    const prefix = 'tenants'
    const [ann, bob] = [open({ prefix, tenant: 'ann' }), open({ prefix, tenant: 'bob' })]
    const { digest } = await ann.write('of ann')
    await expect(bob.read(digest)).rejects.toMatchObject({ code: 'E_SPOOL_NOT_FOUND' })
    expect(await bob.delete(digest)).toBe(false)
    expect(await bob.sweep(new Set(), { graceMs: -1000 })).toMatchObject({ deleted: 0 })
    expect(await (await ann.read(digest)).read(0, 6)).toEqual(bytesOf('of ann'))
  })

  it('finds changed bytes and a changed index, and repairs both when the content comes again', async () => {
    const spool = open({ prefix: 'tampered' })
    const text = 'line one\nline two\n'
    const reader = await spool.write(text)
    const key = `tampered/shared/${reader.digest.slice(0, 2)}/${reader.digest}`
    await put(`${key}.lines`, 'not an index')
    const again = await spool.read(reader.digest)
    expect(again.lineCount).toBe(2)
    await expect(again.verify()).rejects.toMatchObject({ data: { part: 'index' } })
    await put(`${key}.blob`, text.replace('two', 'TWO'))
    await expect(again.verify()).rejects.toMatchObject({ data: { part: 'bytes' } })
    const other = open({ prefix: 'tampered' })
    await expect(other.read(reader.digest)).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
    await spool.write(text)
    await again.verify()
  })

  it('takes a stream of many parts in bounded memory, and reads only what is asked for', async () => {
    const traffic = countingClient()
    const spool = open({ client: traffic })
    const before = process.memoryUsage().arrayBuffers
    let [most, measured] = [0, 0]
    const reader = await spool.write(
      lines(100_000_000, (written) => {
        if (written < measured + 5_000_000) return
        measured = written
        collect()
        most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      }),
    )
    expect(reader.byteLength).toBeGreaterThan(100_000_000)
    // Two parts of 8 MiB, and what fetch holds of them.
    expect(most).toBeLessThan(80_000_000)
    const opened = await spool.read(reader.digest)
    traffic.received = 0
    const middle = Math.floor(opened.lineCount / 2)
    expect((await readLines(opened, { from: middle, count: 2 })).lines[0]?.text).toBe(line(middle))
    expect((await readLines(opened, { from: opened.lineCount - 1, count: 1 })).lines).toHaveLength(
      1,
    )
    expect(traffic.received).toBeLessThan(2_000_000)
    traffic.received = 0
    const found = await searchSpool(opened, { pattern: 'number 7 ', literal: true, maxMatches: 1 })
    expect(found.matches).toBe(1)
    expect(traffic.received).toBeLessThan(3_000_000)
    await opened.verify()
    expect(await keysUnder(`spool-${spools}/shared/temporary/`)).toEqual([])
  })

  it('sweeps what dead writers left: temporary objects, uploads, indexes, marks', async () => {
    const now = Date.now()
    const spool = open({ prefix: 'left', clock: { now: () => now + 7_200_000 } })
    const kept = await spool.write('kept')
    const temporary = `left/shared/temporary/${now}-${'a'.repeat(32)}`
    await put(temporary, 'completed, but not copied')
    const upload = `left/shared/temporary/${now}-${'b'.repeat(32)}`
    const begun = await ask('POST', `${upload}?uploads=`)
    const id = /<UploadId>(.*)<\/UploadId>/.exec(begun)?.[1]
    await ask('PUT', `${upload}?partNumber=1&uploadId=${id}`, 'a part')
    await ask('POST', `left/shared/dd/${'d'.repeat(64)}.blob?uploads=`)
    const dead = 'c'.repeat(64)
    await put(`left/shared/cc/${dead}.lines`, 'an index without bytes')
    await put(`left/shared/cc/${dead}.swept`, '')
    await put('left/notes.txt', 'of somebody else')
    const young = await spool.sweep(new Set([kept.digest]), { graceMs: 1e12 })
    expect(young).toEqual({ kept: 1, deleted: 0, bytesFreed: 0 })
    // The server's clock says when the last part came; a moment has to pass.
    await new Promise((resolve) => setTimeout(resolve, 2100))
    const report = await spool.sweep(new Set([kept.digest]), { graceMs: 1000 })
    expect(report).toEqual({ kept: 1, deleted: 0, bytesFreed: 25 + 6 + 22 })
    const { digest } = kept
    const own = `left/shared/${digest.slice(0, 2)}/${digest}`
    expect(await keysUnder('left/')).toEqual(
      ['left/notes.txt', `${own}.blob`, `${own}.lines`].sort(),
    )
    expect(await ask('GET', '?uploads=&prefix=left/')).not.toContain('<Upload>')
  })

  it('loses nothing when the same content is written while it is swept', {
    timeout: 120_000,
  }, async () => {
    let late = 0
    const clock = { now: () => Date.now() + late }
    const [writer, sweeper] = [open({ prefix: 'race', clock }), open({ prefix: 'race', clock })]
    for (let round = 0; round < 25; round++) {
      await writer.write('the same content')
      late += 10_000
      const [written] = await Promise.all([
        writer.write('the same content'),
        sweeper.sweep(new Set(), { graceMs: 5000 }),
      ])
      await (await sweeper.read(written.digest)).verify()
    }
  })

  it('loses nothing when the removal of a sweep is repeated after the content came again', async () => {
    let late = 0
    const clock = { now: () => Date.now() + late }
    const writer = open({ prefix: 'repeated', clock })
    const key = new AwsClient({ ...keyOf(server), service: 's3', region: 'us-east-1', retries: 0 })
    let writing: Promise<unknown> = Promise.resolve()
    let isLost = false
    const client: S3Client = {
      async fetch(url, init) {
        const response = await key.fetch(url, init)
        if (init.method !== 'DELETE' || !url.endsWith('.blob') || isLost) return response
        isLost = true
        writing = writer.write('the content')
        await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, 500))])
        throw new TypeError('the answer was lost')
      },
    }
    const { digest } = await writer.write('the content')
    late = 10_000
    await open({ prefix: 'repeated', clock, client }).sweep(new Set(), { graceMs: 5000 })
    await writing
    expect(isLost).toBe(true)
    await (await writer.read(digest)).verify()
  })

  it('goes on when the server comes back, and says what is wrong when it does not', async () => {
    const spool = open({ retryTimeoutMs: 30_000 })
    const { digest } = await spool.write('before')
    await server.kill()
    const impatient = open({ retryTimeoutMs: 300 })
    await expect(impatient.write('x')).rejects.toMatchObject({
      code: 'E_SPOOL_WRITE_FAILED',
      message: `The S3 server at ${server.endpoint} gave no answer (ECONNREFUSED). Check \`endpoint\`, and that the server runs.`,
    })
    const writing = spool.write('while it was away')
    await server.start()
    await (await writing).verify()
    await (await spool.read(digest)).verify()
  })

  it('says in one sentence what to put right', async () => {
    const wrong = {
      bucket: open({ bucket: 'no-such-bucket' }),
      key: open({ accessKeyId: 'nobody' }),
      secret: open({ secretAccessKey: 'wrong' }),
    }
    await expect(wrong.bucket.write('x')).rejects.toThrow('There is no bucket `no-such-bucket`')
    await expect(wrong.key.write('x')).rejects.toThrow('The server does not know `accessKeyId`')
    await expect(wrong.secret.write('x')).rejects.toThrow('Check `secretAccessKey` and `region`')
    const late = new AwsClient({ ...keyOf(server), service: 's3', region: 'us-east-1', retries: 0 })
    const datetime = new Date(Date.now() - 3_600_000).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const client: S3Client = {
      fetch: (url, init) => late.fetch(url, { ...init, aws: { datetime } }),
    }
    await expect(open({ client }).write('x')).rejects.toThrow("This machine's clock is too far")
  })

  it('stops an upload that is aborted, and leaves nothing', async () => {
    const spool = open({ prefix: 'aborted' })
    const abort = new AbortController()
    const data = lines(40_000_000, (written) => {
      if (written > 20_000_000) abort.abort()
    })
    await expect(spool.write(data, { signal: abort.signal })).rejects.toThrow('aborted')
    expect(await keysUnder('aborted/')).toEqual([])
    expect(await ask('GET', '?uploads=&prefix=aborted/')).not.toContain('<Upload>')
  })
})

/** Frees what nothing refers to, so that a measurement does not depend on when the engine does. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))
const keyOf = ({ accessKeyId, secretAccessKey }: RadosServer) => ({ accessKeyId, secretAccessKey })
const line = (number: number) => `number ${number} of many lines that fill a spool`

/** Lines of at least `size` bytes together. */
async function* lines(size: number, onChunk: (written: number) => void) {
  let written = 0
  for (let number = 0; written < size; ) {
    let chunk = ''
    for (let i = 0; i < 5000; i++) chunk += `${line(number++)}\n`
    yield chunk
    written += chunk.length
    onChunk(written)
  }
}

/** Asks the server without the spool. */
async function ask(method: string, path: string, body?: string): Promise<string> {
  const client = new AwsClient({ ...keyOf(server), service: 's3', region: 'us-east-1' })
  const separator = path.startsWith('?') ? '' : '/'
  const url = `${server.endpoint}/${BUCKET}${separator}${path}`
  const response = await client.fetch(url, { method, ...(body !== undefined && { body }) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return response.text()
}

const put = (key: string, body: string) => ask('PUT', key, body)

async function keysUnder(prefix: string): Promise<string[]> {
  const page = await ask('GET', `?list-type=2&prefix=${prefix}`)
  return [...page.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key ?? '').sort()
}

/** Counts the bytes of the answers. */
function countingClient() {
  const client = new AwsClient({ ...keyOf(server), service: 's3', region: 'us-east-1', retries: 0 })
  const counting = {
    received: 0,
    async fetch(url: string, init: RequestInit) {
      const response = await client.fetch(url, init)
      counting.received += Number(response.headers.get('content-length') ?? 0)
      return response
    },
  }
  return counting
}
