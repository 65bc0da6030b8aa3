import type { Clock } from '../core/clock.ts'
import { decidedGate, decodeGate, encodeGate, gateAt } from './gate-row.ts'
import type { Store } from './store.ts'
import type { StoreDriver } from './store-driver.ts'
import { gateState, notFound } from './store-errors.ts'
import { conversationId, textColumn } from './store-input.ts'

const MAX_GATES = 1000
/** States only move forward, so that a race is lost once at most: more is a database at odds with itself. */
const MAX_TRIES = 5
const KEEPS_CHANGING = 'it keeps changing under whoever decides. Read it again'

/** The part of a store that shows gates and takes decisions. */
export function createGates(
  driver: StoreDriver,
  clock: Clock,
): Pick<Store, 'gate' | 'openGates' | 'decideGate'> {
  return {
    async gate(conversation, id) {
      const row = await driver.gate(conversationId(conversation), textColumn(id, 'id'))
      return row && gateAt(decodeGate(row), clock.now())
    },

    async openGates(conversation) {
      const rows = await driver.gates({
        ...(conversation !== undefined && { conversation: conversationId(conversation) }),
        open: true,
        limit: MAX_GATES,
      })
      return rows.map((row) => gateAt(decodeGate(row), clock.now()))
    },

    async decideGate(conversation, id, decision) {
      conversationId(conversation)
      const column = textColumn(id, 'id')
      // Whoever loses the race reads again, finds the gate decided, and is told so.
      for (let tries = 1; ; tries++) {
        const row = await driver.gate(conversation, column)
        if (row === undefined) throw notFound('gate', id)
        const gate = decodeGate(row)
        const decided = decidedGate(gate, decision, clock.now())
        if (await driver.replaceGate(encodeGate(decided), row.digest)) return decided
        if (tries === MAX_TRIES) throw gateState(id, gate.state, decided.state, KEEPS_CHANGING)
      }
    },
  }
}
