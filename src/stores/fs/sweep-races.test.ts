import { mkdtemp, readdir, rm, truncate, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { fileSpool } from './file-spool.ts'
import { type FileSystem, nodeFileSystem } from './file-system.ts'

let base = ''
let count = 0
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'bobbin-races-'))
})
afterAll(() => rm(base, { recursive: true, force: true }))
const fresh = () => join(base, String(count++))
const temporary = (folder: string) => join(folder, 'shared', 'temporary')

const old = { clock: { now: () => Date.now() - 60_000 } }
const SWEPT = { graceMs: 30_000 }

async function listed(store: SpoolStore): Promise<string[]> {
  const digests: string[] = []
  for await (const digest of store.digests()) digests.push(digest)
  return digests.sort()
}

/** The file system of the machine, with something in between before one of its calls, once. */
function interrupted(
  call: 'facts' | 'rename',
  when: (path: string) => boolean,
  between: () => Promise<unknown>,
): { readonly fileSystem: FileSystem; happened(): boolean } {
  let done = false
  const inner = nodeFileSystem[call] as (...paths: string[]) => Promise<never>
  const waiting = async (...paths: string[]) => {
    if (!done && when(paths[0] ?? '')) {
      done = true
      await between()
    }
    return inner(...paths)
  }
  return { fileSystem: { ...nodeFileSystem, [call]: waiting }, happened: () => done }
}

describe('a sweep beside a write of the same content', () => {
  it('never takes the content away, not even for a moment', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder, old).write('wanted again')
    const moved: string[] = []
    let writing: Promise<unknown> | undefined
    const fileSystem: FileSystem = {
      ...nodeFileSystem,
      async facts(path) {
        const facts = await nodeFileSystem.facts(path)
        // The sweep has found it old, and has not begun to remove it.
        if (path.endsWith('.blob') && writing === undefined) {
          writing = store.write('wanted again')
          await writing
        }
        return facts
      },
      async rename(from, to) {
        if (!from.includes('temporary')) moved.push(from)
        await nodeFileSystem.rename(from, to)
      },
    }
    const store: SpoolStore = fileSpool(folder, { fileSystem })
    const sweeping = store.sweep(new Set(), SWEPT)
    expect(await sweeping).toMatchObject({ kept: 1, deleted: 0 })
    expect(writing).toBeDefined()
    expect(moved).toEqual([])
    await (await store.read(digest)).verify()
  })

  it.each(['facts', 'rename'] as const)(
    'puts it back when another process writes it before `%s`',
    async (call) => {
      const folder = fresh()
      const { digest } = await fileSpool(folder, old).write('wanted again')
      const isBlob = (path: string) => path.endsWith(`${digest}.blob`)
      const { fileSystem, happened } = interrupted(call, isBlob, () =>
        fileSpool(folder).write('wanted again'),
      )
      const sweeper = fileSpool(folder, { fileSystem })
      expect(await sweeper.sweep(new Set(), SWEPT)).toMatchObject({ deleted: 0 })
      expect(happened()).toBe(true)
      await (await fileSpool(folder).read(digest)).verify()
      expect(await readdir(temporary(folder))).toEqual([])
    },
  )

  it('continues if another process has already swept the same', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder, old).write('not wanted')
    await fileSpool(folder, old).write('nor that')
    const isBlob = (path: string) => path.endsWith(`${digest}.blob`)
    const { fileSystem } = interrupted('rename', isBlob, () =>
      fileSpool(folder).sweep(new Set(), SWEPT),
    )
    const report = await fileSpool(folder, { fileSystem }).sweep(new Set(), SWEPT)
    expect(report.kept).toBe(0)
    expect(await listed(fileSpool(folder))).toEqual([])
    expect(await readdir(temporary(folder))).toEqual([])
  })

  it('leaves the file of a write alone whose source has been silent for long', async () => {
    const folder = fresh()
    const store = fileSpool(folder)
    let goOn = () => {}
    const silence = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const source = (async function* () {
      yield 'x'.repeat(300_000)
      await silence
      yield 'the end'
    })()
    const writing = store.write(source)
    await expect.poll(() => readdir(temporary(folder)).catch(() => [])).toHaveLength(1)
    for (const name of await readdir(temporary(folder))) {
      await utimes(join(temporary(folder), name), 1, 1)
    }
    await store.sweep(new Set(), SWEPT)
    goOn()
    const reader = await writing
    await reader.verify()
    expect(reader.byteLength).toBe(300_007)
  })
})

describe('the quota beside a removal', () => {
  it.each(['delete', 'sweep'] as const)(
    'is not fooled by a %s while what is stored is counted',
    async (removal) => {
      const folder = fresh()
      const { digest } = await fileSpool(folder, old).write('x'.repeat(900))
      let removing: Promise<unknown> = Promise.resolve()
      const isBlob = (path: string) => path.endsWith('.blob')
      const { fileSystem, happened } = interrupted('facts', isBlob, async () => {
        removing = removal === 'delete' ? store.delete(digest) : store.sweep(new Set(), SWEPT)
        await new Promise((resolve) => setTimeout(resolve, 30))
      })
      const store: SpoolStore = fileSpool(folder, { fileSystem, quotaBytes: 1_000 })
      await store.write('y'.repeat(50))
      await removing
      expect(happened()).toBe(true)
      await expect(store.write('z'.repeat(951))).rejects.toMatchObject({
        code: 'E_SPOOL_QUOTA',
        data: { used: 50 },
      })
      await store.write('z'.repeat(950))
      expect(await listed(store)).toHaveLength(2)
    },
  )

  it('counts a repaired spool by its new size', async () => {
    const folder = fresh()
    const { digest } = await fileSpool(folder).write('x'.repeat(900))
    await truncate(join(folder, 'shared', digest.slice(0, 2), `${digest}.blob`), 100)
    const store = fileSpool(folder, { quotaBytes: 1_000 })
    await store.write('x'.repeat(900))
    await expect(store.write('y'.repeat(101))).rejects.toMatchObject({ data: { used: 900 } })
  })
})
