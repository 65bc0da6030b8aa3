import { describe, expect, it } from 'vitest'
import type { Fault } from '../disk/faulty-file-system.ts'
import { type FaultScenario, proveFaultTolerance } from '../disk/spool-fault-proof.ts'

const large = 'a line of a spool that spans several blocks\n'.repeat(20_000)
const old = 'here already'

const scenarios: FaultScenario[] = [
  {
    name: 'a write of several blocks into an empty folder',
    act: (store) => store.write(large),
    mayHold: [large],
  },
  {
    name: 'a write beside other content',
    before: [old],
    act: (store) => store.write(large),
    mayHold: [old, large],
    mustHold: [old],
  },
  {
    name: 'a write of content that is there already',
    before: [old, large],
    act: (store) => store.write(large),
    mayHold: [old, large],
    mustHold: [old, large],
  },
  {
    name: 'two writes at once',
    async act(store) {
      // Both are over before anybody looks: the one goes on when the other has failed.
      const ended = await Promise.allSettled([store.write(large), store.write(old)])
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    },
    mayHold: [old, large],
  },
  {
    name: 'a sweep',
    before: [old, large],
    async act(store) {
      const { digest } = await store.write(large)
      await store.sweep(new Set([digest]), { graceMs: -60_000 })
    },
    mayHold: [old, large],
    mustHold: [large],
  },
  {
    name: 'a deletion',
    before: [old, large],
    async act(store) {
      for await (const digest of store.digests()) await store.delete(digest)
    },
    mayHold: [old, large],
  },
]

const faults: Fault[] = [
  { kind: 'kill' },
  { kind: 'kill-after' },
  ...['ENOSPC', 'EROFS', 'EMFILE', 'EIO', 'EACCES'].map(
    (code) => ({ kind: 'error', code }) as const,
  ),
  { kind: 'error-after', code: 'ENOSPC' },
  { kind: 'error-after', code: 'EIO' },
]

describe('fileSpool with a fault at every file-system call', () => {
  for (const scenario of scenarios) {
    for (const fault of faults) {
      const what = 'code' in fault ? `${fault.kind} ${fault.code}` : fault.kind
      it(`holds whole spools only: ${scenario.name}, ${what}`, { timeout: 120_000 }, async () => {
        expect(await proveFaultTolerance(scenario, fault)).toBeGreaterThan(5)
      })
    }
  }
})
