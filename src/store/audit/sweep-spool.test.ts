import { describe, expect, it } from 'vitest'
import { memorySpool } from '../../spool/memory-spool.ts'
import { sweepSpool } from './sweep-spool.ts'

describe('sweepSpool', () => {
  it('keeps what is written and referred to while it marks, however long that takes', async () => {
    let now = 1_000_000
    const clock = { now: () => now }
    const spool = memorySpool({ clock })
    const old = await spool.write('not referred to')
    now += 10_000
    const meanwhile: string[] = []
    const store = {
      async *digests() {
        now += 1_000
        // The conversation that refers to it has been read already.
        meanwhile.push((await spool.write('written while others are read')).digest)
        now += 60_000
        yield 'f'.repeat(64)
      },
    }
    const report = await sweepSpool(store, spool, { graceMs: 5_000, clock })
    expect(report).toEqual({ kept: 1, deleted: 1, bytesFreed: old.byteLength })
    const left: string[] = []
    for await (const digest of spool.digests()) left.push(digest)
    expect(left).toEqual(meanwhile)
  })

  it('does nothing without a spool', async () => {
    const store = { async *digests() {} }
    expect(await sweepSpool(store)).toEqual({ kept: 0, deleted: 0, bytesFreed: 0 })
  })
})
