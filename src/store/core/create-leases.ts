import type { Clock } from '../../core/clock.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { ConversationKeys } from '../rows/conversation-keys.ts'
import { envelopeKeyOf } from '../rows/envelope-column.ts'
import type { LeaseRow, StoreDriver } from '../rows/store-driver.ts'
import { conversationId, memberOf, textColumn, wholeNumber } from '../rows/store-input.ts'
import type { ConversationRow } from '../rows/store-rows.ts'
import { DEFAULT_LEASE_MS, type Lease, type Store } from '../store.ts'
import { notFound, staleRunner } from '../store-errors.ts'

/** The part of a store that says who may write to a conversation. */
export function createLeases(
  driver: StoreDriver,
  clock: Clock,
  keys: ConversationKeys,
): Pick<Store, 'acquire' | 'renew' | 'release'> {
  const extend = (conversation: string, epoch: number, until: number) =>
    driver.extend(conversationId(conversation), wholeNumber(epoch, 'epoch', 0), until)

  return {
    async acquire(conversation, options) {
      const { owner, leaseMs = DEFAULT_LEASE_MS, force = false, key } = memberOf(options, 'options')
      const newKey = keys.forNew(key)
      const before = await driver.conversation(conversationId(conversation))
      if (before !== undefined) keys.check(before, key)
      const now = clock.now()
      const { granted, created, row } = await driver.acquire({
        conversation,
        owner: textColumn(owner, 'owner'),
        now,
        until: now + wholeNumber(leaseMs, 'leaseMs', 0),
        force,
        newKey,
      })
      if (!granted) throw busy(row)
      if (!created) keys.check(row, key)
      if (key !== undefined) keys.hold(conversation, key)
      const fork = row.envelope !== null && { envelopeKey: envelopeKeyOf(row, key ?? keys.of(row)) }
      return { ...leaseOf(row), created, ...fork }
    },

    async renew(conversation, epoch, leaseMs = DEFAULT_LEASE_MS) {
      const until = clock.now() + wholeNumber(leaseMs, 'leaseMs', 0)
      const row = await extend(conversation, epoch, until)
      if (row === undefined) throw notFound('conversation', conversation)
      if (row.epoch !== epoch) throw staleRunner(conversation, epoch, row.epoch)
      return { ...leaseOf(row), created: false }
    },

    async release(conversation, epoch) {
      const row = await extend(conversation, epoch, 0)
      if (row === undefined || row.epoch === epoch) keys.forget(conversation)
    },
  }
}

function leaseOf(row: LeaseRow): Omit<Lease, 'created'> {
  return { conversation: row.id, epoch: row.epoch, expiresAt: row.leaseUntil }
}

function busy(row: ConversationRow): BobbinError<'E_CONVERSATION_BUSY'> {
  const { id: conversation, owner, leaseUntil: expiresAt } = row
  const message =
    `Conversation \`${conversation}\` is held by \`${owner}\` until ${new Date(expiresAt).toISOString()}: ` +
    'wait for its turn to end, or take over with `recover({ conversation, force: true })` when that runner is known to be dead.'
  return new BobbinError('E_CONVERSATION_BUSY', message, { conversation, owner, expiresAt })
}
