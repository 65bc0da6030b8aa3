import { applyRules, type Violation, type WireRule } from '../../../../model/wire/wire-adapter.ts'
import { asObject } from '../../../../model/wire/wire-value.ts'
import { typeOf } from '../wire/wire.ts'
import type { RequestView } from './request-view.ts'
import { PAIR_RULES } from './validate-pairs.ts'
import { SHAPE_RULES } from './validate-shapes.ts'

/** The rules of the Responses protocol. */
export const RESPONSES_RULES: readonly WireRule<RequestView>[] = [...PAIR_RULES, ...SHAPE_RULES]

/** Applies the rules to a request, its `input`, or one item. */
export function validateRequest(
  payload: unknown,
  rules: readonly WireRule<RequestView>[] = RESPONSES_RULES,
): readonly Violation[] {
  const object = asObject(payload)
  const isRequest =
    object !== undefined && object['type'] === undefined && object['role'] === undefined
  const request = isRequest ? object : {}
  const input = isRequest ? object['input'] : (object ?? payload)
  const list = Array.isArray(input) ? input : object === undefined || isRequest ? [] : [input]
  return applyRules(rules, {
    request,
    isStored: [request['previous_response_id'], request['conversation']].some(
      (id) => id !== undefined && id !== null,
    ),
    items: list.flatMap((value, index) => {
      const item = asObject(value)
      if (item === undefined) return []
      return [{ item, path: `input[${index}]`, type: typeOf(item) }]
    }),
  })
}
