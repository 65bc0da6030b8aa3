import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Clock } from '../core/clock.ts'
import { isBobbinError } from '../core/error/error.ts'
import type { ErrorCode } from '../core/error/error-codes.ts'
import { isSpoolReader, type SpoolReader } from '../spool/spool-reader.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { type ConformanceCheck, requireOpener } from './conformance-check.ts'
import { SPOOL_SAMPLES } from './spool-samples.ts'

/** Opens an empty store for one check. */
export type OpenSpoolStore = (options: {
  /** The most bytes that the store may hold, when a check needs a quota. */
  readonly quotaBytes?: number
  /** The clock that decides what a sweep may take. */
  readonly clock: Clock
}) => SpoolStore | Promise<SpoolStore>

/**
 * What every spool store must do, as a list of checks: `for (const { name, run } of
 * spoolConformance(open)) it(name, run)` works in Vitest, Jest and `node:test` alike.
 */
export function spoolConformance(open: OpenSpoolStore): readonly ConformanceCheck[] {
  requireOpener('spoolConformance', open)
  const checks: ConformanceCheck[] = []
  const check = (name: string, run: (store: SpoolStore, clock: TestClock) => Promise<void>) => {
    checks.push({
      name,
      run: async () => {
        const clock = testClock()
        await run(await open({ clock }), clock)
      },
    })
  }

  for (const [name, bytes] of SPOOL_SAMPLES) {
    check(`stores and indexes ${name}`, async (store) => {
      const reader = await store.write(bytes)
      await assertHolds(reader, bytes)
      await assertHolds(await store.read(reader.digest), bytes)
      await reader.verify()
    })
  }

  check('takes strings, bytes, web streams, Node streams and iterables alike', async (store) => {
    const text = 'one\ntwö\r\nthree 🧵 end'
    const bytes = new TextEncoder().encode(text)
    const sources = [
      text,
      bytes,
      new Blob([bytes]).stream(),
      Readable.from([text.slice(0, 5), text.slice(5)]),
      // One byte at a time cuts every multi-byte sequence.
      Readable.from(Array.from(bytes, (byte) => Uint8Array.of(byte))),
      // One UTF-16 unit at a time cuts the surrogate pair.
      Readable.from(text.split('')),
    ]
    for (const source of sources) await assertHolds(await store.write(source), bytes)
    assert.equal((await listOf(store)).length, 1, 'equal content is stored once')
  })

  check('keeps concurrent writers of equal and of different content apart', async (store) => {
    const texts = Array.from({ length: 12 }, (_, i) => `content ${i % 3}\n`.repeat(20_000))
    const readers = await Promise.all(texts.map((text) => store.write(slowly(text))))
    for (const [i, reader] of readers.entries()) {
      await assertHolds(reader, new TextEncoder().encode(texts[i]))
    }
    assert.equal((await listOf(store)).length, 3)
  })

  check('stores nothing when the source fails', async (store) => {
    const failure = new Error('the source failed')
    await assert.rejects(
      store.write(
        (async function* () {
          yield 'x'.repeat(3_000_000)
          throw failure
        })(),
      ),
      (error) => error === failure,
    )
    assert.deepEqual(await listOf(store), [])
    await assertHolds(await store.write('still usable'), new TextEncoder().encode('still usable'))
  })

  check('stores nothing when the write is aborted, even while the source hangs', async (store) => {
    const abort = new AbortController()
    const hanging = (async function* () {
      yield 'begun\n'
      await new Promise(() => {})
    })()
    const writing = store.write(hanging, { signal: abort.signal })
    setTimeout(() => abort.abort(), 5)
    await assert.rejects(writing, { name: 'AbortError' })
    await assert.rejects(store.write('x', { signal: abort.signal }), { name: 'AbortError' })
    assert.deepEqual(await listOf(store), [])
  })

  check('does not see later changes to the bytes it was given or gave', async (store) => {
    const original = new TextEncoder().encode('original\n')
    // Parts of a Node buffer share its memory, whatever they are made with.
    for (const given of [original.slice(), Buffer.from(original)]) {
      const reader = await store.write(given)
      given.fill(0)
      const read = await reader.read(0, 9)
      read.fill(0)
      for await (const chunk of reader.stream()) chunk.fill(0)
      await assertHolds(reader, original)
      await reader.verify()
      await store.delete(reader.digest)
    }
  })

  check('refuses what is not a digest, and does not find what is not there', async (store) => {
    for (const name of HOSTILE_NAMES) {
      await rejectsWith('E_SPOOL_INVALID_NAME', store.read(name))
      await rejectsWith('E_SPOOL_INVALID_NAME', store.delete(name))
    }
    const absent = 'a'.repeat(64)
    await rejectsWith('E_SPOOL_NOT_FOUND', store.read(absent))
    assert.equal(await store.delete(absent), false)
  })

  check('deletes one spool and leaves the others', async (store) => {
    const [one, two] = [await store.write('one'), await store.write('two')]
    assert.equal(await store.delete(one.digest), true)
    assert.equal(await store.delete(one.digest), false)
    await rejectsWith('E_SPOOL_NOT_FOUND', store.read(one.digest))
    assert.deepEqual(await listOf(store), [two.digest])
  })

  check('sweeps what is neither live nor within the grace period', async (store, clock) => {
    const old = await store.write('old')
    const live = await store.write('live')
    const renewed = await store.write('renewed')
    clock.advance(10_000)
    await store.write('renewed')
    const fresh = await store.write('fresh')
    const report = await store.sweep(new Set([live.digest]), { graceMs: 5_000 })
    assert.deepEqual(report, { kept: 3, deleted: 1, bytesFreed: report.bytesFreed })
    assert.ok(report.bytesFreed >= old.byteLength)
    const kept = [live, renewed, fresh].map((reader) => reader.digest)
    assert.deepEqual(await listOf(store), kept.sort())
  })

  check(
    'gives what took hours to write its grace from the end of the write',
    async (store, clock) => {
      const slow = (async function* () {
        yield 'begun\n'
        clock.advance(10_000)
        yield 'x'.repeat(600_000)
        clock.advance(10_000)
      })()
      const { digest } = await store.write(slow)
      await store.sweep(new Set(), { graceMs: 5_000 })
      assert.deepEqual(await listOf(store), [digest])
    },
  )

  check('refuses a grace period that is not a number, and keeps everything', async (store) => {
    const { digest } = await store.write('kept')
    for (const graceMs of [Number.NaN, '5' as never]) {
      await rejectsWith('E_INVALID_STORE_INPUT', store.sweep(new Set(), { graceMs }))
    }
    assert.deepEqual(await listOf(store), [digest])
  })

  checks.push({
    name: 'refuses a write beyond the quota and stays usable',
    run: async () => {
      const store = await open({ quotaBytes: 2_000_000, clock: testClock() })
      const first = await store.write('x'.repeat(1_500_000))
      await rejectsWith('E_SPOOL_QUOTA', store.write('y'.repeat(1_500_000)))
      assert.deepEqual(await listOf(store), [first.digest])
      await store.write('z'.repeat(100_000))
      await store.delete(first.digest)
      await store.write('y'.repeat(1_500_000))
    },
  })

  return checks
}

const HOSTILE_NAMES = [
  '',
  '../../etc/passwd',
  '/etc/passwd',
  `${'a'.repeat(63)}\0`,
  `${'a'.repeat(64)}\n`,
  'A'.repeat(64),
  'a'.repeat(10_000),
  `../${'a'.repeat(61)}`,
  '..',
  'C:\\windows',
]

/** Compares a reader with a plain reading of the same bytes, around every kind of border. */
async function assertHolds(reader: SpoolReader, bytes: Uint8Array): Promise<void> {
  assert.ok(isSpoolReader(reader))
  assert.equal(reader.digest, createHash('sha256').update(bytes).digest('hex'))
  assert.equal(reader.byteLength, bytes.length)
  const starts = lineStartsOf(bytes)
  assert.equal(reader.lineCount, starts.length)

  const chunks: Uint8Array[] = []
  for await (const chunk of reader.stream()) chunks.push(chunk)
  assert.ok(Buffer.concat(chunks).equals(bytes), 'the stream gives every byte')

  const middle = Math.floor(bytes.length / 2)
  const ranges = [
    [0, 10],
    [-5, 3],
    [middle - 7, middle + 7],
    [bytes.length - 4, bytes.length + 9],
  ]
  for (const [start = 0, end = 0] of [...ranges, [262_140, 262_150], [9, 2]]) {
    const expected = bytes.subarray(Math.max(0, start), Math.max(0, start, end))
    assert.ok(Buffer.from(await reader.read(start, end)).equals(expected), `read ${start}-${end}`)
  }

  const lines = [0, 1, 2, starts.length >> 1, starts.length - 2, starts.length - 1]
  for (const line of lines.filter((number) => number >= 0)) {
    const start = starts[line] ?? bytes.length
    assert.equal(await reader.lineStart(line), start, `line ${line} begins at ${start}`)
    if (line >= starts.length) continue
    assert.equal(await reader.lineAt(start), line)
    assert.equal(await reader.lineAt((starts[line + 1] ?? bytes.length) - 1), line)
  }
  assert.equal(await reader.lineStart(starts.length), bytes.length)
  assert.equal(await reader.lineAt(bytes.length + 5), Math.max(0, starts.length - 1))
}

function lineStartsOf(bytes: Uint8Array): number[] {
  const starts = bytes.length > 0 ? [0] : []
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (at + 1 < bytes.length) starts.push(at + 1)
  }
  return starts
}

async function rejectsWith(code: ErrorCode, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error) => isBobbinError(error, code), `rejects with ${code}`)
}

async function listOf(store: SpoolStore): Promise<string[]> {
  const digests: string[] = []
  for await (const digest of store.digests()) digests.push(digest)
  return digests.sort()
}

async function* slowly(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 50_000) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    yield text.slice(at, at + 50_000)
  }
}

interface TestClock extends Clock {
  advance(ms: number): void
}

function testClock(): TestClock {
  // Starts at the present, because a file system keeps times of its own.
  let now = Date.now()
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
