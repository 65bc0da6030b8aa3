import { applyRules, type Violation, type WireRule } from '../../../model/wire/wire-adapter.ts'
import { type RequestView, viewOf } from './request-view.ts'
import { PART_RULES } from './validate-parts.ts'
import { TURN_RULES } from './validate-turns.ts'

/** The rules of the generateContent protocol. */
export const GEMINI_RULES: readonly WireRule<RequestView>[] = [...TURN_RULES, ...PART_RULES]

/** Applies the rules to a request, its `contents`, one content, or one part. */
export function validateRequest(payload: unknown): readonly Violation[] {
  return applyRules(GEMINI_RULES, viewOf(payload))
}
