import { thrownText } from '../../core/error/thrown-text.ts'
import { randomId } from '../../core/ids.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { canonicalArguments } from '../../core/json/key-order.ts'
import type { Gate, NewGateDecision } from '../gate.ts'
import type { GivenGrant } from '../grant.ts'
import { isConversationName } from '../rows/store-input.ts'

/** The fault of a grant: its member, and the rule. */
export interface GrantFault {
  readonly path: string
  readonly rule: string
}

const KEYS = ['id', 'for', 'args', 'until', 'uses', 'tainted', 'subject', 'conversation']

const NEEDS_TAINTED =
  'must be true: this call waits because the conversation has seen text of a stranger. Grant it with `tainted: true`, or approve it without a grant'

/** Where a decision is made, and when. `redacted` has the paths that the store does not keep of the gate. */
interface GrantPlace {
  readonly conversation: string
  readonly now: number
  readonly redacted: readonly string[]
}

/** The grant of a decision, complete and checked against its gate, or what is wrong with it. */
export function checkGrant(
  gate: Gate,
  { verdict, grant }: Pick<NewGateDecision, 'verdict' | 'grant'>,
  { conversation, now, redacted }: GrantPlace,
): GivenGrant | GrantFault {
  const fault = (member: string, rule: string): GrantFault => ({
    path: member === '' ? 'grant' : `grant.${member}`,
    rule,
  })
  if (typeof grant !== 'object' || grant === null) return fault('', 'must be an object')
  // Own members only: a client's `__proto__` must not grant.
  const own: typeof grant & { __proto__: null } = { __proto__: null, ...grant }
  const { until, uses, tainted, subject, id = randomId() } = own
  const unknown = Object.keys(own).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) return fault(unknown, 'is not part of a grant')
  if (verdict === 'edited') {
    return fault(
      '',
      'must be absent with edited `args`: approve the call as it is, or without a grant',
    )
  }
  if (verdict !== 'approved') return fault('', 'goes with an approval only')
  if (gate.kind !== 'approval' || gate.from !== 'runner' || gate.tool === undefined) {
    return fault('', 'goes with the approval of a call that the runner makes')
  }
  // Each undo is asked for by a person, and each is decided by itself.
  if (gate.tool.startsWith('undo:')) {
    return fault('', 'cannot cover an undo: approve it without one')
  }
  if (typeof gate.context?.['definition'] !== 'string') {
    return fault('', 'cannot be given here: the gate does not say which definition it is about')
  }
  if (own.for !== 'conversation' && own.for !== 'subject') {
    return fault('for', 'must be `conversation` or `subject`')
  }
  if (own.for === 'subject' && !isName(subject)) {
    return fault('for', 'cannot be `subject`: the runner has no `subject` for this turn')
  }
  if (own.for === 'conversation' && subject !== undefined) {
    return fault('subject', 'goes with `for: subject` only')
  }
  const holdsIn = own.conversation ?? conversation
  if (own.for === 'conversation' && !isName(holdsIn)) {
    return fault('conversation', 'must name a conversation')
  }
  if (!isName(id)) return fault('id', 'must be a non-empty string')
  if (until !== undefined && !(isCount(until) && until > now)) {
    return fault('until', 'must be a time in the future, in whole epoch milliseconds')
  }
  if (uses !== undefined && !isCount(uses)) {
    return fault('uses', 'must be a whole number of at least 1')
  }
  if (tainted !== undefined && typeof tainted !== 'boolean') {
    return fault('tainted', 'must be true or false')
  }
  const isTainted = gate.because === 'trust' || gate.context['tainted'] === true
  if (isTainted && tainted !== true) return fault('tainted', NEEDS_TAINTED)
  const pattern = own.args === undefined ? undefined : patternIn(own.args, gate.args ?? {})
  if (typeof pattern === 'string') return fault('args', pattern)
  if (pattern !== undefined && lengthOf(Object.keys(pattern)) > MAX_NAME_BYTES) {
    return fault(
      'args',
      `must name fewer members: their names have at most ${MAX_NAME_BYTES} bytes`,
    )
  }
  if (hasRedacted(pattern, redacted)) {
    return fault('args', 'cannot name values that the store does not keep')
  }
  return {
    id,
    for: own.for,
    ...(pattern !== undefined && { args: pattern }),
    ...(until !== undefined && { until }),
    ...(uses !== undefined && { uses }),
    ...(tainted === true && { tainted }),
    ...(own.for === 'subject' ? { subject: subject as string } : { conversation: holdsIn }),
  }
}

/** The names stand in an index. */
const MAX_NAME_BYTES = 1000

const lengthOf = (names: readonly string[]): number =>
  new TextEncoder().encode(canonicalStringify(names)).byteLength

const isName = (value: unknown): value is string =>
  typeof value === 'string' && isConversationName(value)

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0

/** The pattern as JSON, or what is wrong with it. */
function patternIn(given: unknown, approved: JsonObject): JsonObject | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return 'must be an object with members of the approved arguments'
  }
  let pattern: JsonObject
  try {
    pattern = canonicalArguments(given)
  } catch (error) {
    return `must be plain JSON: ${thrownText(error)}`
  }
  const misfit = Object.keys(pattern).find(
    (name) =>
      !Object.hasOwn(approved, name) ||
      canonicalStringify(pattern[name]) !== canonicalStringify(approved[name]),
  )
  return misfit === undefined ? pattern : `must fit the approved call: \`${misfit}\` does not`
}

/** Whether the values that a grant would fix are not all stored. */
function hasRedacted(pattern: JsonObject | undefined, redacted: readonly string[]): boolean {
  return redacted.some((path) => {
    const [, first, member] = path.split('/')
    if (first !== 'args') return false
    if (pattern === undefined) return true
    if (member === undefined) return Object.keys(pattern).length > 0
    return Object.hasOwn(pattern, member.replaceAll('~1', '/').replaceAll('~0', '~'))
  })
}

export const isGrantFault = (given: GivenGrant | GrantFault): given is GrantFault => 'rule' in given
