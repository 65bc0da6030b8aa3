import { isBobbinError } from '../../core/error/error.ts'
import type { Intent } from '../../store/entry.ts'
import type { GateRequest } from '../../store/gate.ts'
import { askStore } from '../limits/failure.ts'
import type { CallScope } from './call-scope.ts'
import type { NextStep } from './step.ts'

/** What the intent of a call says if a standing approval covers it; undefined if it must wait at its gate. */
export async function coverOf(
  { settings: { store }, standing }: CallScope,
  { tool = '', args = {}, because, context }: GateRequest,
): Promise<Pick<Intent, 'approvedBy' | 'covered'> | undefined> {
  const { definition } = context ?? {}
  if (store.grantFor === undefined || typeof definition !== 'string') return undefined
  const tainted = because === 'trust' || context?.['tainted'] === true
  const { conversations } = standing
  const subject = standing.subject()
  const on = { definition, tainted, conversations, ...(subject !== undefined && { subject }) }
  const grant = await askStore(async () => store.grantFor?.({ tool, args, ...on }))
  if (grant === undefined) return undefined
  // Only what this grant was compared with: it is stored.
  const covered =
    grant.subject === undefined
      ? { definition, tainted, conversations }
      : { definition, tainted, conversations: [], subject: grant.subject }
  return { approvedBy: { grant: grant.id }, covered }
}

/**
 * The steps of a response after the store refused to use a grant: another call took its last use, or it was revoked. The
 * last call that relied on it waits for a person instead.
 */
export function withoutGrant(
  steps: readonly NextStep[],
  error: unknown,
): readonly NextStep[] | undefined {
  if (!isBobbinError(error, 'E_GRANT_STATE')) return undefined
  const { grant } = error.data
  const at = steps.findLastIndex((step) => grantOf(step) === grant)
  const step = steps[at]
  const instead = step !== undefined && 'instead' in step ? step.instead : undefined
  return instead && steps.with(at, instead)
}

function grantOf({ facts }: NextStep): string | undefined {
  const by = facts.find((fact) => fact.kind === 'intent')?.intent.approvedBy
  return by !== undefined && 'grant' in by ? by.grant : undefined
}
