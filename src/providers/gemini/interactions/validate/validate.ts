import { applyRules, type Violation, type WireRule } from '../../../../model/wire/wire-adapter.ts'
import { type RequestView, viewOf } from './request-view.ts'
import { PAIR_RULES } from './validate-pairs.ts'
import { STEP_RULES } from './validate-steps.ts'

/** The rules of the Interactions protocol. */
export const INTERACTIONS_RULES: readonly WireRule<RequestView>[] = [...PAIR_RULES, ...STEP_RULES]

/** Applies the rules to a request, its `input`, or one step. */
export function validateRequest(payload: unknown): readonly Violation[] {
  return applyRules(INTERACTIONS_RULES, viewOf(payload))
}
