import { applyRules, type Violation } from '../../../model/wire/wire-adapter.ts'
import { viewOf } from './request-view.ts'
import { CONTENT_RULES } from './validate-content.ts'
import { PAIRING_RULES } from './validate-pairs.ts'

/** The rules that the provider holds requests to; paths are written as its errors write them. */
export function validateRequest(payload: unknown): readonly Violation[] {
  return applyRules([...PAIRING_RULES, ...CONTENT_RULES], viewOf(payload))
}
