import type { Clock } from '../../core/clock.ts'
import { decidedGate, decodeGate, encodeGate, gateAt } from '../rows/gate-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { conversationId, textColumn } from '../rows/store-input.ts'
import type { Store } from '../store.ts'
import { gateState, notFound } from '../store-errors.ts'

const MAX_GATES = 1000
/** States only move forward, so a race can be lost once. More losses mean an inconsistent database. */
const MAX_TRIES = 5
const KEEPS_CHANGING = 'other processes keep changing it. Read it again'

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
      // After a lost race the gate is read again. It is decided then, and `decidedGate` throws.
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
