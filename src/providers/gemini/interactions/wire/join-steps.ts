import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import { asList, asObject } from '../../../../model/wire/wire-value.ts'

/**
 * The steps of several requests as those of one response. Where one stopped inside the model's words and the next
 * continued them, they are one step.
 */
export function joinedSteps(parts: readonly (readonly JsonValue[])[]): readonly JsonValue[] {
  const [first = [], ...others] = parts
  const steps = [...first]
  for (const [begin, ...rest] of others) {
    if (begin === undefined) continue
    const before = asObject(steps.at(-1))
    const after = asObject(begin)
    if (before?.['type'] === 'model_output' && after?.['type'] === 'model_output') {
      steps[steps.length - 1] = { ...before, content: joinedContent(before, after) }
    } else steps.push(begin)
    steps.push(...rest)
  }
  return steps
}

function joinedContent(before: JsonObject, after: JsonObject): JsonValue[] {
  const said = [...asList(before['content'])]
  const [begin, ...rest] = asList(after['content'])
  const last = plainText(said.at(-1))
  const next = plainText(begin)
  if (last !== undefined && next !== undefined) {
    said[said.length - 1] = { type: 'text', text: last + next }
  } else if (begin !== undefined) said.push(begin)
  return [...said, ...rest]
}

/** A text without annotations, which would count from its own beginning. */
export function plainText(block: JsonValue | undefined): string | undefined {
  const object = asObject(block)
  if (object?.['type'] !== 'text' || typeof object['text'] !== 'string') return undefined
  return Object.keys(object).length === 2 ? object['text'] : undefined
}
