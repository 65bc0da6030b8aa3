import { sha256Hex } from '#hash'
import { canonicalStringify } from '../../core/json/canonical.ts'
import { sealOf } from './seal.ts'
import type { ConversationRow } from './store-rows.ts'

/** Where a fork comes from, as its row says. */
export interface ForkOrigin {
  readonly conversation: string
  /** How many entries it has from there. */
  readonly length: number
  /** The first seal of the fork: it binds all of these. */
  readonly seal: string
}

/** The text of the column. */
export const originText = (origin: ForkOrigin): string => canonicalStringify({ ...origin })

/** The origin of a fork; undefined for other conversations. A damaged text counts as none, and then no seal fits. */
export function originOf({ origin }: Pick<ConversationRow, 'origin'>): ForkOrigin | undefined {
  if (origin === null) return undefined
  try {
    const { conversation, length, seal } = JSON.parse(origin) as Partial<ForkOrigin>
    const isOrigin =
      typeof conversation === 'string' && Number.isSafeInteger(length) && typeof seal === 'string'
    return isOrigin ? { conversation, length: length as number, seal } : undefined
  } catch {
    return undefined
  }
}

/** What the first seal of a fork binds. */
export interface ForkSealed {
  /** The key of the fork, not of its origin. */
  readonly key: Uint8Array
  readonly row: Pick<ConversationRow, 'id' | 'envelope'>
  readonly from: Omit<ForkOrigin, 'seal'>
  /** The last seal of the origin at the cut; empty without seals. */
  readonly previous: string
  /** The digests and seals of everything that was taken over, in order. */
  readonly digests: readonly string[]
}

/** The seal with which a fork begins. It continues the origin's last one, under the key of the fork. */
export function forkSealOf({ key, row, from, previous, digests }: ForkSealed): string {
  const { conversation, length } = from
  const head = canonicalStringify({ conversation, length, envelope: [...(row.envelope ?? [])] })
  return sealOf({ key, conversation: row.id, previous, digests: [sha256Hex(head), ...digests] })
}
