import { sha256Hex } from '#hash'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { Gate } from '../gate.ts'
import type { CoverQuery, Grant } from '../grant.ts'
import { storeCorrupt } from '../store-errors.ts'
import { columnText } from './entry-text.ts'
import type { GrantRow } from './store-rows.ts'

/** Who a grant holds for, as one column. */
export const scopeOf = (of: { readonly conversation?: string; readonly subject?: string }) =>
  columnText(
    of.subject === undefined ? `conversation:${of.conversation ?? ''}` : `subject:${of.subject}`,
  )

/** A grant as the store keeps it. */
export function encodeGrant(grant: Grant): GrantRow {
  const body = canonicalStringify(grant)
  return { ...columnsOf(grant), digest: sha256Hex(body), body }
}

function columnsOf(grant: Grant): Omit<GrantRow, 'digest' | 'body'> {
  const { id, tool, definition, args, expiresAt, given } = grant
  return {
    id: columnText(id),
    conversation: given.conversation,
    scope: scopeOf(grant),
    tool: columnText(tool),
    shape: shapeOf(grant),
    pattern: patternOf(definition, args),
    state: isOver(grant) ? 'over' : 'live',
    expiresAt: expiresAt ?? null,
  }
}

/** The row of a grant after one more use. */
export function usedRow(row: GrantRow, grant: Grant): GrantRow {
  const used = { ...grant, used: grant.used + 1 }
  const body = canonicalStringify(used)
  return { ...row, state: isOver(used) ? 'over' : 'live', digest: sha256Hex(body), body }
}

/** Reads a stored grant; `E_STORE_CORRUPT` when it is not what was written. */
export function decodeGrant(row: GrantRow): Grant {
  const refuse = (reason: string) => storeCorrupt(`Grant \`${row.id}\``, reason)
  if (sha256Hex(row.body) !== row.digest) throw refuse('its digest does not match')
  const grant = JSON.parse(row.body) as Grant
  // Calls are matched by the columns, so these must say what the text says.
  const written: Readonly<Record<string, unknown>> = { ...columnsOf(grant) }
  const other = Object.keys(written).find((name) => written[name] !== Reflect.get(row, name))
  if (other !== undefined) throw refuse(`its column \`${other}\` does not match its text`)
  return grant
}

/** The grant that a decision on a gate gave, as it began; undefined if it gave none. */
export function grantGivenBy(gate: Gate): Grant | undefined {
  const { decision, tool, args = {}, context, conversation, id: gateId } = gate
  const given = decision?.grant
  const definition = context?.['definition']
  if (given === undefined || tool === undefined || typeof definition !== 'string') return undefined
  const { id, until, uses, tainted, subject } = given
  return {
    id,
    tool,
    definition,
    args: given.args ?? args,
    ...(given.args === undefined && { exact: true as const }),
    for: given.for,
    ...(subject !== undefined && { subject }),
    ...(given.conversation !== undefined && { conversation: given.conversation }),
    decidedBy: decision?.decidedBy ?? '',
    createdAt: decision?.decidedAt ?? 0,
    ...(until !== undefined && { expiresAt: until }),
    ...(uses !== undefined && { uses }),
    used: 0,
    tainted: tainted === true,
    given: { conversation, gate: gateId },
  }
}

/** Whether a stored grant equals the one in the decision on its gate. False if it was made or changed by hand. */
export function isGivenBy(grant: Grant, gate: Gate | undefined): boolean {
  const begun = gate && grantGivenBy(gate)
  return begun !== undefined && termsOf(begun) === termsOf(grant)
}

/** Everything about a grant that never changes. */
function termsOf(grant: Grant): string {
  const { used: _, revokedAt: __, revokedBy: ___, ...terms } = grant
  return canonicalStringify(terms)
}

const isOver = ({ revokedAt, uses, used }: Grant): boolean =>
  revokedAt !== undefined || (uses !== undefined && used >= uses)

/** Why a grant covers nothing at `now`; undefined if it can. */
export function grantEnd(grant: Grant, now: number): string | undefined {
  if (grant.revokedAt !== undefined) return 'revoked'
  if (isOver(grant)) return 'used up'
  return grant.expiresAt !== undefined && now >= grant.expiresAt ? 'expired' : undefined
}

/** Which members a grant fixes: grants of one shape are found by one digest. */
function shapeOf({ tainted, exact, args }: Pick<Grant, 'tainted' | 'exact' | 'args'>): string {
  const members = exact ? '=' : canonicalStringify(Object.keys(args).toSorted())
  return `${tainted ? TAINTED : CLEAN}${members}`
}

const TAINTED = 't'
const CLEAN = 'c'

/** The digest that a grant of this shape must have in order to cover a call; undefined if none of this shape can. */
export function patternFor(shape: string, call: CoverQuery): string | undefined {
  if (call.tainted && !shape.startsWith(TAINTED)) return undefined
  const members = shape.slice(1)
  if (members === '=') return patternOf(call.definition, call.args)
  const names = JSON.parse(members) as readonly string[]
  if (!names.every((name) => Object.hasOwn(call.args, name))) return undefined
  return patternOf(call.definition, membersOf(call.args, names))
}

/** A key such as `__proto__` is data here. */
const membersOf = (args: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, args[name] as JsonValue]))

const patternOf = (definition: string, args: JsonObject): string =>
  sha256Hex(canonicalStringify({ definition, args }))

/** Whether a grant of these terms covers a call with these arguments. */
export function covers(grant: Grant, call: CoverQuery): boolean {
  return (
    grant.tool === call.tool &&
    grant.definition === call.definition &&
    (grant.subject === undefined
      ? call.conversations.includes(grant.conversation ?? '')
      : grant.subject === call.subject) &&
    patternFor(shapeOf(grant), call) === patternOf(grant.definition, grant.args)
  )
}
