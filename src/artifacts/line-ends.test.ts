import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memorySpool } from '../spool/memory-spool.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { fileSpool } from '../stores/fs/file-spool.ts'
import { SpooledArtifact } from './spooled-artifact.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-ends-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Where readings, slices, strides, blocks and chunks of files end. */
const BORDERS = [1_024, 16_384, 65_536, 262_144, 1_048_576]

describe.each([
  ['memory', (): SpoolStore => memorySpool()],
  ['files', (): SpoolStore => fileSpool(folder)],
])('a line end across any border, in %s', (_, open) => {
  it.each(BORDERS)('belongs to no line at byte %d', async (border) => {
    const store = open()
    for (let shift = -3; shift <= 1; shift++) {
      const long = 'x'.repeat(border + shift)
      const artifact = new SpooledArtifact(await store.write(`${long}\r\nfoo\r\n\r\nlast`))
      expect(artifact.lineCount()).toBe(4)
      expect(await artifact.cat(1, 4)).toEqual(['foo', '', 'last'])
      expect(await artifact.tail(3)).toEqual(['foo', '', 'last'])
      const { lines, next } = await artifact.window({ start: 0, end: 1 }, { maxLineChars: 10 })
      expect(lines[0]?.text).toBe('x'.repeat(10))
      expect(lines[0]?.bytesAfter).toBe(long.length - 10)
      expect(next).toEqual({ line: 0, offset: 10 })
      for (const [pattern, expected] of [
        ['x$', [0]],
        ['^foo$', [1]],
        ['^$', [2]],
        ['x\\r', []],
        ['\\r', []],
      ] as const) {
        const found = await artifact.grep(pattern, { budgetMs: 60_000 })
        expect({ shift, pattern, found: found.lines.map(({ line }) => line) }).toEqual({
          shift,
          pattern,
          found: expected,
        })
      }
      const { lines: literal } = await artifact.grep('xx', { literal: true })
      expect(literal.map(({ line }) => line)).toEqual([0])
      expect(literal[0]?.bytesBefore).toBe(0)
    }
  })
})

describe('a lone carriage return', () => {
  it('is part of its line, also at the end of the text', async () => {
    const artifact = new SpooledArtifact(await memorySpool().write('a\rb\n\r\r\nend\r'))
    expect(await artifact.cat()).toEqual(['a\rb', '\r', 'end\r'])
    const { lines } = await artifact.grep('\\r$')
    expect(lines.map(({ line }) => line)).toEqual([1, 2])
  })
})
