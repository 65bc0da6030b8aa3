import { createHash } from 'node:crypto'
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { LineIndex } from '../../spool/line-index.ts'
import { decodeLineIndex, encodeLineIndex } from '../../spool/line-index-file.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { spoolConformance } from '../../testing/spool-conformance.ts'
import { fileSpool } from './file-spool.ts'
import { type FileSystem, nodeFileSystem } from './file-system.ts'

let base = ''
let count = 0
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'bobbin-spool-'))
})
afterAll(() => rm(base, { recursive: true, force: true }))
const fresh = () => join(base, String(count++))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const blobOf = (folder: string, digest: string) =>
  join(folder, 'shared', digest.slice(0, 2), `${digest}.blob`)
const linesOf = (folder: string, digest: string) =>
  join(folder, 'shared', digest.slice(0, 2), `${digest}.lines`)

async function listed(store: SpoolStore): Promise<string[]> {
  const digests: string[] = []
  for await (const digest of store.digests()) digests.push(digest)
  return digests.sort()
}

describe('fileSpool', () => {
  for (const { name, run } of spoolConformance((options) => fileSpool(fresh(), options))) {
    it(name, run)
  }

  it("keeps stores on one folder out of each other's way", async () => {
    const folder = fresh()
    const stores = Array.from({ length: 4 }, () => fileSpool(folder))
    const text = 'the same for all\n'.repeat(40_000)
    const writes = stores.flatMap((store, i) => [store.write(text), store.write(`own ${i}`)])
    const readers = await Promise.all(writes)
    await Promise.all(readers.map((reader) => reader.verify()))
    expect(await listed(fileSpool(folder))).toHaveLength(5)
  })

  it('survives a restart with its index', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('a\nb\nc\n')
    const reader = await fileSpool(folder).read(digest)
    expect([reader.lineCount, await reader.lineStart(2)]).toEqual([3, 4])
  })

  it('keeps files to their owner: mode 0600, folders 0700', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('secret')
    const mode = async (path: string) => (await stat(path)).mode & 0o777
    expect(await mode(blobOf(folder, digest))).toBe(0o600)
    expect(await mode(linesOf(folder, digest))).toBe(0o600)
    for (const path of [folder, join(folder, 'shared'), join(folder, 'shared', 'temporary')]) {
      expect(await mode(path)).toBe(0o700)
    }
  })

  it('leaves nothing behind under temporary names', async () => {
    const folder = fresh()
    await fileSpool(folder).write('whole')
    expect(await readdir(join(folder, 'shared', 'temporary'))).toEqual([])
  })

  it('leaves nothing behind under temporary names when a source fails or is aborted', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const failing = async function* () {
      yield 'x'.repeat(600_000)
      throw new Error('the source failed')
    }
    await expect(store.write(failing())).rejects.toThrow('the source failed')
    const signal = AbortSignal.timeout(20)
    const endless = async function* () {
      for (;;) yield 'x'.repeat(300_000)
    }
    await expect(store.write(endless(), { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(await readdir(join(folder, 'shared', 'temporary'))).toEqual([])
  })

  it('keeps the index of what a sweep keeps', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const { digest } = await store.write('kept')
    await store.sweep(new Set([digest]), { graceMs: -60_000 })
    expect((await stat(linesOf(folder, digest))).isFile()).toBe(true)
  })

  it('rebuilds an index that is missing, and keeps it', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('a\nb\n')
    const before = await readFile(linesOf(folder, digest))
    await rm(linesOf(folder, digest))
    const reader = await fileSpool(folder).read(digest)
    expect(await reader.lineStart(1)).toBe(2)
    expect(await readFile(linesOf(folder, digest))).toEqual(before)
  })

  it('rebuilds an index that belongs to other bytes', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const [one, two] = [await store.write('a\nb\n'), await store.write('one line')]
    await writeFile(linesOf(folder, one.digest), await readFile(linesOf(folder, two.digest)))
    const reader = await fileSpool(folder).read(one.digest)
    expect(reader.lineCount).toBe(2)
    await reader.verify()
  })

  it('reads through a damaged index but says so in verify', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('a\nb\n')
    await flip(linesOf(folder, digest), 20)
    const reader = await fileSpool(folder).read(digest)
    expect(await reader.lineStart(1)).toBe(2)
    await expect(reader.verify()).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
  })

  it('refuses a picture whose file has changed', async () => {
    const folder = fresh()
    const spool = fileSpool(folder)
    const picture = await new Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      trustTier: 'first-party',
      modalityHazard: 'inert',
      reader: bytesMedia(new Uint8Array(1000)),
    }).spooled(spool)
    await flip(blobOf(folder, picture.digest ?? ''), 500)
    for (const media of [picture, Media.fromJSON(picture.toJSON(), { spool: fileSpool(folder) })]) {
      const read = async () => {
        for await (const chunk of media.stream()) void chunk
      }
      await expect(read()).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
    }
  })

  it('does not believe an index that counts lines which are not there', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('a\nb\nc\nd and more')
    const path = linesOf(folder, digest)
    const expected = { digest, byteLength: 16 }
    const stored = decodeLineIndex(await readFile(path), expected)
    const forge = async (forged: Partial<LineIndex>) => {
      if (stored.state !== 'sound') throw new Error('the index is not sound')
      await writeFile(path, encodeLineIndex({ ...stored.index, ...forged }))
      return fileSpool(folder).read(digest)
    }
    expect((await forge({ newlines: 2 ** 50 })).lineCount).toBe(4)
    const reader = await forge({ newlines: 12 })
    const corrupt = { code: 'E_SPOOL_CORRUPT', data: { part: 'index' } }
    await expect(reader.lineStart(9)).rejects.toMatchObject(corrupt)
    await expect(reader.verify()).rejects.toMatchObject(corrupt)
  })

  it('notices every flipped byte of a blob and of an index', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const reader = await store.write('the quick brown fox\njumps\n')
    for (const path of [blobOf(folder, reader.digest), linesOf(folder, reader.digest)]) {
      const size = (await stat(path)).size
      for (let at = 0; at < size; at++) {
        await flip(path, at)
        const failure = { code: 'E_SPOOL_CORRUPT', data: { digest: reader.digest } }
        await expect(reader.verify()).rejects.toMatchObject(failure)
        await flip(path, at)
      }
      await reader.verify()
    }
  })

  it('notices every flipped byte of a blob whose index is gone', async () => {
    const folder = fresh()
    const reader = await fileSpool(folder).write('fox\njumps\n')
    await rm(linesOf(folder, reader.digest))
    for (let at = 0; at < reader.byteLength; at++) {
      await flip(blobOf(folder, reader.digest), at)
      await expect(reader.verify()).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
      await flip(blobOf(folder, reader.digest), at)
    }
    await reader.verify()
  })

  it('notices a flipped byte in a bounded read, also of a block it has read before', async () => {
    const folder = fresh()
    const reader = await fileSpool(folder).write('x'.repeat(600_000))
    await reader.read(300_000, 300_010)
    await flip(blobOf(folder, reader.digest), 290_000)
    const failure = { code: 'E_SPOOL_CORRUPT', data: { part: 'block 1' } }
    await expect(reader.read(300_000, 300_010)).rejects.toMatchObject(failure)
    expect((await reader.read(0, 10)).length).toBe(10)
  })

  it('notices a blob that was cut short', async () => {
    const folder = fresh()
    const reader = await fileSpool(folder).write('0123456789')
    await writeFile(blobOf(folder, reader.digest), '01234')
    await expect(reader.read(0, 10)).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
    await expect(reader.verify()).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
    await expect(fileSpool(folder).read(reader.digest)).rejects.toMatchObject({
      code: 'E_SPOOL_CORRUPT',
    })
    const streaming = async () => {
      for await (const chunk of reader.stream()) void chunk
    }
    await expect(streaming()).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
  })

  it('repairs a damaged spool when the same content is written again', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const { digest } = await store.write('precious')
    await flip(blobOf(folder, digest), 0)
    await store.write('precious')
    await (await store.read(digest)).verify()
  })

  it('separates tenants, whatever their names', async () => {
    const folder = fresh()
    const names = ['a', '../../etc', '/etc/passwd', 'nul\0', 'x'.repeat(10_000), 'A', 'shared']
    for (const tenant of names) await fileSpool(folder, { tenant }).write(`of ${tenant}`)
    for (const tenant of names) {
      expect(await listed(fileSpool(folder, { tenant }))).toEqual([sha256(`of ${tenant}`)])
    }
    expect(await listed(fileSpool(folder))).toEqual([])
    for (const name of await readdir(folder)) expect(name).toMatch(/^tenant-[0-9a-f]{40}$/)
  })

  it('refuses tenants and folders that name nothing for certain', () => {
    const refused = expect.objectContaining({ code: 'E_SPOOL_INVALID_NAME' })
    expect(() => fileSpool(fresh(), { tenant: '' })).toThrow(refused)
    expect(() => fileSpool(fresh(), { tenant: '\ud800' })).toThrow(refused)
    expect(() => fileSpool('')).toThrow(refused)
    expect(() => fileSpool('a\0b')).toThrow(refused)
  })

  it.each(['shared', 'shared/temporary', `shared/${sha256('hello').slice(0, 2)}`])(
    'touches nothing behind a symbolic link at `%s`',
    async (place) => {
      const folder = fresh()
      const outside = fresh()
      const stray = join(outside, `${sha256('hello')}.blob`)
      await mkdir(outside)
      await writeFile(stray, 'hello')
      await utimes(stray, 1, 1)
      await mkdir(join(folder, place, '..'), { recursive: true })
      await symlink(outside, join(folder, place))
      const store = fileSpool(folder)
      const refused = { code: 'E_SPOOL_INVALID_NAME' }
      await expect(store.write('hello')).rejects.toMatchObject(refused)
      await store.sweep(new Set(), { graceMs: 0 }).catch(() => {})
      await store.delete(sha256('hello')).catch(() => {})
      await store.read(sha256('hello')).catch(() => {})
      expect(await readdir(outside)).toEqual([`${sha256('hello')}.blob`])
      expect(await readFile(stray, 'utf8')).toBe('hello')
    },
  )

  it('does not sweep blobs out through a symbolic link', async () => {
    const folder = fresh()
    const outside = fresh()
    await mkdir(outside)
    const store = fileSpool(folder)
    const { digest } = await store.write('old')
    await rm(join(folder, 'shared', 'temporary'), { recursive: true })
    await symlink(outside, join(folder, 'shared', 'temporary'))
    const sweeping = store.sweep(new Set(), { graceMs: -60_000 })
    await expect(sweeping).rejects.toMatchObject({ code: 'E_SPOOL_INVALID_NAME' })
    expect(await listed(store)).toEqual([digest])
    expect(await readdir(outside)).toEqual([])
  })

  it('does not read through a symbolic link in the place of a blob', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const { digest } = await store.write('hello')
    const target = join(base, 'target')
    await writeFile(target, 'hello')
    await rm(blobOf(folder, digest))
    await symlink(target, blobOf(folder, digest))
    await expect(store.read(digest)).rejects.toMatchObject({ code: 'E_SPOOL_NOT_FOUND' })
  })

  it('replaces a symbolic link in the place of a blob or an index, and leaves its target alone', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const { digest } = await store.write('hello')
    const outside = fresh()
    await mkdir(outside)
    for (const path of [blobOf(folder, digest), linesOf(folder, digest)]) {
      const target = join(outside, 'target')
      await writeFile(target, 'not ours')
      await rm(path)
      await symlink(target, path)
      expect(await store.delete(digest).catch(() => false)).toBe(path.endsWith('.lines'))
      await store.write('hello')
      await (await fileSpool(folder).read(digest)).verify()
      expect((await lstat(path)).isFile()).toBe(true)
      expect(await readFile(target, 'utf8')).toBe('not ours')
    }
  })

  it('does not take its index from behind a symbolic link', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('a\nb\n')
    const target = fresh()
    await writeFile(target, await readFile(linesOf(folder, digest)))
    await rm(linesOf(folder, digest))
    await symlink(target, linesOf(folder, digest))
    const opened: string[] = []
    const openForReading: FileSystem['openForReading'] = (path) => {
      opened.push(path)
      return nodeFileSystem.openForReading(path)
    }
    const store = fileSpool(folder, { fileSystem: { ...nodeFileSystem, openForReading } })
    expect((await store.read(digest)).lineCount).toBe(2)
    expect(opened.map((path) => path.slice(-5))).toEqual(['.blob'])
    expect((await lstat(linesOf(folder, digest))).isFile()).toBe(true)
  })

  it('sweeps leftovers of interrupted writes after the grace period, and foreign files never', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    const { digest } = await store.write('kept')
    const leftover = join(folder, 'shared', 'temporary', 'crashed.blob')
    const foreign = join(folder, 'shared', digest.slice(0, 2), 'README')
    await writeFile(leftover, 'half a wri')
    await writeFile(foreign, 'mine')
    const live = new Set([digest])
    await store.sweep(live)
    expect(await readFile(leftover, 'utf8')).toBe('half a wri')
    for (const path of [leftover, foreign]) await utimes(path, 1, 1)
    expect(await store.sweep(live)).toEqual({ kept: 1, deleted: 0, bytesFreed: 10 })
    expect(await readdir(join(folder, 'shared', 'temporary'))).toEqual([])
    expect(await readFile(foreign, 'utf8')).toBe('mine')
  })

  it('counts what is stored already towards the quota', async () => {
    const folder = fresh()
    await fileSpool(folder).write('x'.repeat(900))
    const store = fileSpool(folder, { quotaBytes: 1000 })
    await expect(store.write('y'.repeat(200))).rejects.toMatchObject({
      code: 'E_SPOOL_QUOTA',
      data: { quota: 1000, used: 900 },
    })
    await store.write('y'.repeat(100))
    await store.sweep(new Set(), { graceMs: -60_000 })
    await store.write('z'.repeat(1000))
  })

  it('answers a refused read with a typed error', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('text')
    const refused = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    const openForReading = () => Promise.reject(refused)
    const store = fileSpool(folder, { fileSystem: { ...nodeFileSystem, openForReading } })
    await expect(store.read(digest)).rejects.toMatchObject({
      code: 'E_SPOOL_READ_FAILED',
      data: { reason: 'EMFILE' },
      cause: refused,
    })
  })

  it('says that a spool is gone when it was deleted under its reader', async () => {
    const store = fileSpool(fresh())
    const reader = await store.write('text')
    await store.delete(reader.digest)
    const gone = { code: 'E_SPOOL_NOT_FOUND' }
    await expect(reader.read(0, 4)).rejects.toMatchObject(gone)
    await expect(reader.verify()).rejects.toMatchObject(gone)
  })

  it('touches less than 1 MB for a line anywhere in a large spool', async () => {
    let touched = 0
    const folder = fresh()
    const { digest } = await fileSpool(folder).write(numbered(2_000_000))
    const store = fileSpool(folder, { fileSystem: counting((bytes) => void (touched += bytes)) })
    const reader = await store.read(digest)
    for (const line of [0, 37_449, 1_234_567, 1_999_999]) {
      touched = 0
      const start = await reader.lineStart(line)
      const end = await reader.lineStart(line + 1)
      const text = new TextDecoder().decode(await reader.read(start, end))
      expect(text).toBe(`line ${line}\n`)
      expect(touched).toBeLessThan(1_000_000)
    }
  })
})

describe('fileSpool with one line that spans many blocks', () => {
  it('touches less than 2 MB for its head, its tail and the lines beside it', async () => {
    let touched = 0
    const folder = fresh()
    const text = `first\n${'long '.repeat(2_000_000)}\nlast`
    const { digest } = await fileSpool(folder).write(text)
    const fileSystem = counting((bytes) => void (touched += bytes))
    const act: ((artifact: SpooledArtifact) => Promise<unknown>)[] = [
      (artifact) => artifact.head(3),
      (artifact) => artifact.tail(2),
      (artifact) => artifact.line(0),
      (artifact) => artifact.line(1),
      (artifact) => artifact.line(2),
    ]
    for (const read of act) {
      touched = 0
      // Opened anew each time: nothing is cached.
      await read(new SpooledArtifact(await fileSpool(folder, { fileSystem }).read(digest)))
      expect(touched).toBeGreaterThan(0)
      expect(touched).toBeLessThan(2_000_000)
    }
  })
})

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

async function* numbered(lines: number): AsyncGenerator<string> {
  for (let i = 0; i < lines; i += 1000) {
    yield Array.from({ length: 1000 }, (_, k) => `line ${i + k}\n`).join('')
  }
}

/** Reports every byte that is read. */
function counting(onRead: (bytes: number) => void): FileSystem {
  return {
    ...nodeFileSystem,
    async openForReading(path) {
      const file = await nodeFileSystem.openForReading(path)
      return {
        ...file,
        async read(target, position) {
          const filled = await file.read(target, position)
          onRead(filled)
          return filled
        },
      }
    },
  }
}
