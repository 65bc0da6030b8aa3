import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLines } from '../../src/spool/read-lines.ts'
import { searchSpool } from '../../src/spool/search/search.ts'
import type { SpoolReader } from '../../src/spool/spool-reader.ts'
import { fileSpool } from '../../src/stores/fs/file-spool.ts'
import { type FileSystem, nodeFileSystem } from '../../src/stores/fs/file-system.ts'

const GIGABYTE = 1024 ** 3
const LIMIT = 150_000_000
const LINE = (number: number) => `${number} INFO request took ${number % 977} ms, all is well\n`

let folder = ''
let reader: SpoolReader
let lines = 0
let touched = 0
let grownWhileWriting = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-gigabyte-'))
  const store = fileSpool(folder, { fileSystem: counting((bytes) => void (touched += bytes)) })
  const written = await grownWhile(async () => {
    reader = await store.write(gigabyte())
  })
  grownWhileWriting = written
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a spool of 1 GB', () => {
  it('is written in flat memory', () => {
    expect(reader.byteLength).toBeGreaterThanOrEqual(GIGABYTE)
    expect(reader.lineCount).toBe(lines)
    expect(grownWhileWriting).toBeLessThan(LIMIT)
  })

  it.each([
    ['a rare literal', { pattern: 'needle in the haystack', literal: true }, 1],
    [
      'a literal in any case',
      { pattern: 'NEEDLE IN THE haystack', literal: true, ignoreCase: true },
      1,
    ],
    ['an expression with a literal part', { pattern: 'needle .* hay[a-z]+$' }, 1],
    ['an expression without one', { pattern: '^[0-9]+ [A-Z]{5} ' }, 1],
    ['what every line has', { pattern: 'INFO' }, 100],
  ])('is searched for %s in flat memory', { timeout: 120_000 }, async (_, query, matches) => {
    let answer: Awaited<ReturnType<typeof searchSpool>> | undefined
    const grown = await grownWhile(async () => {
      answer = await searchSpool(reader, { ...query, budgetMs: 100_000 })
    })
    expect(answer?.matches).toBe(matches)
    expect(grown).toBeLessThan(LIMIT)
  })

  it('gives its head, tail and any line from less than 2 MB, in under 5 ms', async () => {
    for (const from of [0, 1, 999_999, Math.floor(lines / 2), lines - 10]) {
      touched = 0
      await readLines(reader, { from, count: 10 })
      expect(touched).toBeLessThan(2_000_000)
      const times: number[] = []
      for (let turn = 0; turn < 5; turn++) {
        const begun = performance.now()
        const { lines: shown } = await readLines(reader, { from, count: 1 })
        times.push(performance.now() - begun)
        expect(shown.map(({ line }) => line)).toEqual([from])
      }
      expect(Math.min(...times)).toBeLessThan(5)
    }
  })

  it('touches less than 2 MB to open it anew and read a line across any border of blocks', async () => {
    const BLOCK = 256 * 1024
    for (const border of [1, 7, 2_000, Math.floor(reader.byteLength / BLOCK)]) {
      const line = await reader.lineAt(border * BLOCK - 1)
      const store = fileSpool(folder, { fileSystem: counting((bytes) => void (touched += bytes)) })
      touched = 0
      const opened = await store.read(reader.digest)
      const { lines: shown } = await readLines(opened, { from: line, count: 3 })
      expect(shown.map((each) => each.line)).toEqual([line, line + 1, line + 2])
      expect(touched).toBeGreaterThan(BLOCK)
      expect(touched).toBeLessThan(2_000_000)
    }
  })

  it('verifies in flat memory', { timeout: 120_000 }, async () => {
    expect(await grownWhile(() => reader.verify())).toBeLessThan(LIMIT)
  })
})

async function* gigabyte(): AsyncGenerator<string> {
  for (let bytes = 0; bytes < GIGABYTE; ) {
    let text = ''
    for (let i = 0; i < 4000; i++) text += LINE(lines++)
    if (lines === 4_000_000) {
      text += 'FATAL needle in the haystack\n1 FATAL x\n'
      lines += 2
    }
    bytes += text.length
    yield text
  }
}

/** How far the resident memory rises above its start while something runs. */
async function grownWhile(run: () => Promise<void>): Promise<number> {
  const start = process.memoryUsage().rss
  let peak = start
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 5)
  await run()
  clearInterval(watch)
  return Math.max(peak, process.memoryUsage().rss) - start
}

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
