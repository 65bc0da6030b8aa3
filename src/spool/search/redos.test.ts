import { beforeAll, describe, expect, it } from 'vitest'
import { isThorough } from '../../../test/runs.ts'
import { stalls } from '../../../test/stalls.ts'
import { memorySpool } from '../memory-spool.ts'
import type { SpoolReader } from '../spool-reader.ts'
import { searchSpool } from './search.ts'

/** Patterns that hang engines which backtrack, or that have very many states. */
const HOSTILE = [
  '^(a+)+$',
  '(a|aa)+$',
  '(.*)*x',
  '(a+)+b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.*a){20}',
  '(a|a?)+b',
  '(a*)*b',
  '(x+x+)+y',
  '(a|b)*a(a|b){18}c',
  '[^x]{1000}y',
  '\\pL{1000}z',
  '(a?){500}a{500}b',
  '((a{10}){10}){10}$',
  '(?i)(ſ|k|å)*\\b\\B$',
]

describe('searchSpool with a hostile pattern over 16 MB', () => {
  const readers: [string, SpoolReader][] = []

  beforeAll(async () => {
    const store = memorySpool()
    const size = 16 * 1024 * 1024
    const noise = new Uint8Array(size)
    let state = 1
    for (let i = 0; i < size; i++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) | 0
      noise[i] = state & 0x10000 ? 97 : 98
    }
    readers.push(['one line of the letter a', await store.write('a'.repeat(size))])
    readers.push(['one line of noise', await store.write(noise)])
    readers.push(['short lines', await store.write(`${'a'.repeat(99)}\n`.repeat(size / 100))])
    // The engine is loaded and warm in any process that searches twice.
    for (const [, reader] of readers) await searchSpool(reader, { pattern: 'warm[a]?up|aab' })
  })

  it.each(HOSTILE)(
    'answers or refuses `%s` within 250 ms and lets the event loop turn',
    async (pattern) => {
      const turn = HOSTILE.indexOf(pattern)
      for (const [name, reader] of isThorough ? readers : readers.slice(turn % 3, (turn % 3) + 1)) {
        const answered = () =>
          searchSpool(reader, { pattern }).catch((error: { code?: string }) => {
            expect(error.code).toBe('E_PATTERN_UNSUPPORTED')
          })
        const { took, stall } = await stalls(answered)
        expect({ name, took: took < 250 || took }).toEqual({ name, took: true })
        expect({ name, stall: stall < 50 || stall }).toEqual({ name, stall: true })
      }
    },
  )
})
