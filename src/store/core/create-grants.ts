import type { Clock } from '../../core/clock.ts'
import type { Gate } from '../gate.ts'
import type { CoverQuery, Grant } from '../grant.ts'
import { columnText } from '../rows/entry-text.ts'
import { decodeGate } from '../rows/gate-row.ts'
import {
  covers,
  decodeGrant,
  encodeGrant,
  grantEnd,
  isGivenBy,
  patternFor,
  scopeOf,
} from '../rows/grant-row.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import { conversationId, memberOf, pageSize, textColumn } from '../rows/store-input.ts'
import type { GrantRow } from '../rows/store-rows.ts'
import type { Store } from '../store.ts'
import { grantState, invalidInput, notFound } from '../store-errors.ts'

const MAX_GRANTS = 1000
/** Grants of one shape and pattern cover the same calls, so few of them need to be read. */
const MAX_SAME = 20
const MAX_TRIES = 20

const QUERY = ['subject', 'conversation', 'tool', 'after', 'limit']

/** The part of a store that lists, revokes and finds standing approvals. */
export function createGrants(
  driver: StoreDriver,
  clock: Clock,
): Pick<Store, 'grants' | 'revokeGrant' | 'grantFor'> {
  return {
    async grants(query = {}) {
      const given = memberOf(query, 'query')
      // A misspelt name that is ignored would find everything.
      const unknown = Object.keys(given).find((name) => !QUERY.includes(name))
      if (unknown !== undefined) throw invalidInput(unknown, `must be one of ${QUERY.join(', ')}`)
      const { subject, conversation, tool, after, limit = MAX_GRANTS } = given
      if (subject !== undefined && conversation !== undefined) {
        throw invalidInput(
          'subject',
          'must be absent with `conversation`: a grant is for one of them',
        )
      }
      if (subject !== undefined) textColumn(subject, 'subject')
      if (conversation !== undefined) conversationId(conversation)
      const isScoped = subject !== undefined || conversation !== undefined
      const last = after === undefined ? undefined : textColumn(after, 'after')
      if (last !== undefined && (await driver.grant(last)) === undefined) {
        throw notFound('grant', String(after))
      }
      const rows = await driver.grants({
        ...(isScoped && { scope: scopeOf(given) }),
        ...(tool !== undefined && { tool: textColumn(tool, 'tool') }),
        ...(last !== undefined && { after: last }),
        limit: pageSize(limit),
      })
      return rows.map(decodeGrant)
    },

    async revokeGrant(id, by) {
      const { decidedBy } = memberOf(by, 'by')
      if (typeof decidedBy !== 'string' || decidedBy === '') {
        throw invalidInput('by.decidedBy', 'must say who revokes it')
      }
      const column = textColumn(id, 'id')
      for (let tries = 1; ; tries++) {
        const row = await driver.grant(column)
        if (row === undefined) throw notFound('grant', id)
        const grant = decodeGrant(row)
        if (grant.revokedAt !== undefined) return grant
        const revoked = { ...grant, revokedAt: clock.now(), revokedBy: decidedBy }
        // A call may use it at the same time: then it is read again.
        if (await driver.replaceGrant(encodeGrant(revoked), row.digest)) return revoked
        if (tries === MAX_TRIES) throw grantState(id, 'changed all the time')
      }
    },

    async grantFor(call) {
      const { conversations, args } = memberOf(call, 'call')
      textColumn(call.tool, 'call.tool')
      textColumn(call.definition, 'call.definition')
      if (!Array.isArray(conversations)) {
        throw invalidInput('call.conversations', 'must be a list of conversations')
      }
      memberOf(args, 'call.args')
      return grantFor(driver, call, clock.now())
    },
  }
}

/** The first grant that covers a call. One that is damaged, or that no decision gave, covers nothing. */
async function grantFor(
  driver: StoreDriver,
  call: CoverQuery,
  now: number,
): Promise<Grant | undefined> {
  const { conversations, subject } = call
  const scopes = conversations.map((conversation) => scopeOf({ conversation }))
  if (subject !== undefined) scopes.push(scopeOf({ subject }))
  const tool = columnText(call.tool)
  for (const { scope, shape } of await driver.grantShapes(scopes, tool)) {
    const pattern = patternOrNone(shape, call)
    if (pattern === undefined) continue
    const live = { shape, pattern, now }
    for (const row of await driver.grants({ scope, tool, live, limit: MAX_SAME })) {
      const grant = readable(row)
      if (grant === undefined || !covers(grant, call) || grantEnd(grant, now)) continue
      if (isGivenBy(grant, await gateOf(driver, grant))) return grant
    }
  }
  return undefined
}

function patternOrNone(shape: string, call: CoverQuery): string | undefined {
  try {
    return patternFor(shape, call)
  } catch {
    // The column was changed by hand.
    return undefined
  }
}

function readable(row: GrantRow): Grant | undefined {
  try {
    return decodeGrant(row)
  } catch {
    return undefined
  }
}

async function gateOf(driver: StoreDriver, { given }: Grant): Promise<Gate | undefined> {
  const row = await driver.gate(given.conversation, columnText(given.gate))
  try {
    return row && decodeGate(row)
  } catch {
    return undefined
  }
}
