import { isBobbinError } from '../../core/error/error.ts'
import type { Intent } from '../../store/entry.ts'
import { askStore } from '../limits/failure.ts'
import type { CallScope } from './call-scope.ts'
import type { NextStep, ReadyCall, RunStep, WaitStep } from './step.ts'

/** The step of a call that a standing approval covers; undefined if it must wait. */
export async function coveredStep(
  { settings: { store }, standing }: CallScope,
  wait: WaitStep & { readonly ready: ReadyCall },
  intent: Intent,
): Promise<RunStep | undefined> {
  const { tool = '', args = {}, because, context } = wait.gate
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
  const allowed = { ...intent, approvedBy: { grant: grant.id }, covered }
  const facts = [{ kind: 'intent', intent: allowed } as const]
  return { do: 'run', call: wait.call, ...wait.ready, intent: allowed, instead: wait, facts }
}

/**
 * The steps of a response after the store refused to use a grant: another call took its last use, or somebody revoked it. The
 * last call that relied on it waits for a person instead.
 */
export function withoutGrant(
  steps: readonly NextStep[],
  error: unknown,
): readonly NextStep[] | undefined {
  if (!isBobbinError(error, 'E_GRANT_STATE')) return undefined
  const { grant } = error.data
  const at = steps.findLastIndex((step) => step.do === 'run' && grantOf(step) === grant)
  const step = steps[at]
  if (step?.do !== 'run' || step.instead === undefined) return undefined
  return steps.with(at, step.instead)
}

function grantOf({ intent: { approvedBy } }: RunStep): string | undefined {
  return approvedBy !== undefined && 'grant' in approvedBy ? approvedBy.grant : undefined
}
