import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asList, asObject, asText } from '../../../../model/wire/wire-value.ts'
import { isContent } from '../wire/content.ts'
import { inSnakeCase, typeOf, type WireStep } from '../wire/wire.ts'

/** A step with its place. */
export interface PlacedStep {
  readonly step: WireStep
  readonly type: string
  readonly path: string
}

/** A request, or the part of one. */
export interface RequestView {
  readonly request: JsonObject
  readonly steps: readonly PlacedStep[]
  /** The model that it goes to, where the payload tells. */
  readonly model: string | undefined
  /** The provider holds what came before. */
  readonly isStored: boolean
}

/** Sorts a request, its `input`, or one step. */
export function viewOf(payload: unknown): RequestView {
  const object = asObject(payload)
  const read = object === undefined ? {} : inSnakeCase(object)
  const isStep = typeOf(read) !== '' || read['role'] !== undefined
  const request = isStep ? {} : read
  const input = isStep ? [object as JsonObject] : object === undefined ? payload : read['input']
  const given: readonly JsonValue[] = Array.isArray(input) ? asList(input) : []
  const list = given.every(isContent) ? [{ type: 'user_input', content: [...given] }] : given
  return {
    request,
    steps: list.flatMap((value, index) => {
      const step = asObject(value)
      if (step === undefined) return []
      const spelled: WireStep = inSnakeCase(step)
      return [{ step: spelled, type: typeOf(spelled), path: `input[${index}]` }]
    }),
    model: asText(request['model']),
    isStored: asText(request['previous_interaction_id']) !== undefined,
  }
}
