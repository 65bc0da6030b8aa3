import type { JsonObject } from '../../core/json/json.ts'
import { ARGUMENT_LIMITS, parseArguments } from '../../core/json/strict-json.ts'
import type { InputSchema, Validator } from '../../tools/input-schema.ts'
import { compileSchema } from '../../tools/schema-validation.ts'
import type { Interruption } from '../limits/cut-off.ts'
import { errorText } from '../limits/failure.ts'
import type { DispatchEnd } from '../limits/outcome.ts'

/** The schema of an answer: any schema that a tool's input may have. */
export type OutputSchema = InputSchema

const SCHEMA = { name: 'output', path: 'output', code: 'E_INVALID_TURN_INPUT' } as const
const ANSWER = { root: 'output', code: 'E_INVALID_OUTPUT' } as const

/** The compiled schema of an answer: its JSON Schema for the model, and its check. */
export interface OutputShape {
  readonly request: { readonly name: string; readonly schema: JsonObject }
  readonly validate: Validator
}

/** Compiles a schema; throws if it cannot be used. */
export function outputShape(schema: OutputSchema): OutputShape {
  const { jsonSchema, validate } = compileSchema(schema, SCHEMA)
  return { request: { name: 'answer', schema: jsonSchema }, validate }
}

/**
 * Reads and checks a completed answer. An answer that does not fit fails the turn and keeps its text. An abort ends a slow
 * check too.
 */
export async function checkedOutput(
  end: DispatchEnd,
  shape: OutputShape | undefined,
  interruption: Interruption,
): Promise<DispatchEnd> {
  if (shape === undefined || end.status !== 'completed') return end
  try {
    const answer = parseArguments(end.text, ARGUMENT_LIMITS, ANSWER)
    const checking = (async () => shape.validate(answer))()
    const result = await interruption.watch.orAborted(checking)
    if (result.ok) return { ...end, output: result.value }
    return rejected(
      end,
      result.issues.map(({ path, rule }) => `\`${path || 'output'}\`: ${rule}`).join('; '),
    )
  } catch (error) {
    const { signal } = interruption
    if (signal.aborted && error === signal.reason) return { ...interruption.end(), text: end.text }
    return rejected(end, errorText(error))
  }
}

const rejected = ({ text }: DispatchEnd, why: string): DispatchEnd => ({
  text,
  status: 'failed',
  reason: {
    code: 'OUTPUT_REJECTED',
    message: `The answer does not fit the \`output\` schema: ${why}`,
  },
})
