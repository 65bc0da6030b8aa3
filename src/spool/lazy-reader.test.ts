import { describe, expect, it } from 'vitest'
import { lazySpoolReader } from './lazy-reader.ts'
import { memorySpool } from './memory-spool.ts'
import { assertSpoolReader } from './spool-reader.ts'

describe('lazySpoolReader', () => {
  it('opens its spool on first use, and once', async () => {
    const store = memorySpool()
    const { digest, byteLength, lineCount } = await store.write('a\nbc\n')
    let opened = 0
    const counting = {
      read: (name: string) => {
        opened++
        return store.read(name)
      },
    }
    const reader = lazySpoolReader(counting, { digest, byteLength, lineCount })
    expect(assertSpoolReader(reader)).toBe(reader)
    expect(opened).toBe(0)
    expect(await Promise.all([reader.lineStart(1), reader.lineAt(3)])).toEqual([2, 1])
    expect(new TextDecoder().decode(await reader.read(2, 4))).toBe('bc')
    const chunks: Uint8Array[] = []
    for await (const chunk of reader.stream({ start: 1 })) chunks.push(chunk)
    expect(Buffer.concat(chunks).toString()).toBe('\nbc\n')
    await reader.verify()
    expect(opened).toBe(1)
  })

  it('tries again after a failed opening', async () => {
    const store = memorySpool()
    const text = await memorySpool().write('later')
    const reader = lazySpoolReader(store, text)
    await expect(reader.read(0, 5)).rejects.toMatchObject({ code: 'E_SPOOL_NOT_FOUND' })
    await store.write('later')
    expect((await reader.read(0, 5)).length).toBe(5)
  })

  it('refuses a spool that is not as described', async () => {
    const store = memorySpool()
    const { digest } = await store.write('abc')
    const reader = lazySpoolReader(store, { digest, byteLength: 4, lineCount: 1 })
    await expect(reader.read(0, 1)).rejects.toMatchObject({ code: 'E_SPOOL_CORRUPT' })
  })

  it('refuses a reference that no store gave', () => {
    const digest = 'a'.repeat(64)
    const make = (reference: object) => () => lazySpoolReader(memorySpool(), reference as never)
    expect(make({ digest: '../x', byteLength: 1, lineCount: 1 })).toThrow(/not a digest/)
    expect(make({ digest, byteLength: -1, lineCount: 1 })).toThrow(/byteLength/)
    expect(make({ digest, byteLength: 1, lineCount: 0.5 })).toThrow(/lineCount/)
  })
})

describe('assertSpoolReader', () => {
  it('names what is missing', async () => {
    const reader = await memorySpool().write('x')
    const without = (name: string) => () => assertSpoolReader({ ...reader, [name]: undefined })
    for (const name of [
      'read',
      'stream',
      'lineStart',
      'lineAt',
      'verify',
      'digest',
      'byteLength',
    ]) {
      expect(without(name)).toThrow(
        expect.objectContaining({ code: 'E_NOT_A_SPOOL_READER', data: { missing: name } }),
      )
    }
    expect(() => assertSpoolReader('text')).toThrow(/object/)
  })
})
