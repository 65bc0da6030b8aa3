import { type ConformanceCheck, requireOpener } from '../conformance-check.ts'
import type { OpenStore } from './store-check.ts'
import { storeConversationChecks } from './store-checks-conversations.ts'
import { storeExchangeChecks } from './store-checks-exchange.ts'
import { storeFeedChecks } from './store-checks-feed.ts'
import { storeForkChecks } from './store-checks-fork.ts'
import { storeGateChecks } from './store-checks-gates.ts'
import { storeGrantChecks } from './store-checks-grants.ts'
import { storeHistoryChecks } from './store-checks-history.ts'
import { storeInputChecks } from './store-checks-input.ts'
import { storeLeaseChecks } from './store-checks-leases.ts'
import { storeLogChecks } from './store-checks-log.ts'
import { storeRetentionChecks } from './store-checks-retention.ts'
import { storeSeedChecks } from './store-checks-seed.ts'
import { testClock } from './test-clock.ts'

/**
 * What every store must do, as a list of checks: `for (const { name, run } of storeConformance(open))
 * it(name, run)` works in Vitest, Jest and `node:test` alike.
 */
export function storeConformance(open: OpenStore): readonly ConformanceCheck[] {
  requireOpener('storeConformance', open)
  const checks = [
    ...storeLogChecks,
    ...storeInputChecks,
    ...storeConversationChecks,
    ...storeHistoryChecks,
    ...storeForkChecks,
    ...storeSeedChecks,
    ...storeLeaseChecks,
    ...storeGateChecks,
    ...storeGrantChecks,
    ...storeRetentionChecks,
    ...storeExchangeChecks,
    ...storeFeedChecks,
  ]
  return checks.map(({ name, redact, run }) => ({
    name,
    async run() {
      const clock = testClock()
      const { store, again } = await open({ clock, ...(redact && { redact }) })
      const others: { close(): Promise<void> }[] = []
      try {
        await run({
          store,
          clock,
          ...(again && {
            async again() {
              const other = await again()
              others.push(other)
              return other
            },
          }),
        })
      } finally {
        for (const other of others) await other.close()
        await store.close()
      }
    },
  }))
}
