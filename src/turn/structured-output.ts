import type { JsonObject } from '../core/json.ts'
import { ARGUMENT_LIMITS, parseArguments } from '../core/strict-json.ts'
import type { InputSchema, Validator } from '../tools/input-schema.ts'
import { compileSchema } from '../tools/schema-validation.ts'
import { errorText } from './error-text.ts'
import type { Interruption } from './interruption.ts'
import type { DispatchEnd } from './outcome.ts'

/** The shape of an answer: any schema that a tool's input may have. */
export type OutputSchema = InputSchema

const SCHEMA = { name: 'output', path: 'output', code: 'E_INVALID_TURN_INPUT' } as const
const ANSWER = { root: 'output', code: 'E_INVALID_OUTPUT' } as const

/** The shape of an answer, made out once for a turn: what a model is told, and what its answer is held to. */
export interface OutputShape {
  readonly request: { readonly name: string; readonly schema: JsonObject }
  readonly validate: Validator
}

/** Makes out a schema, or says why it cannot be used. */
export function outputShape(schema: OutputSchema): OutputShape {
  const { jsonSchema, validate } = compileSchema(schema, SCHEMA)
  return { request: { name: 'answer', schema: jsonSchema }, validate }
}

/**
 * Reads and checks a completed answer; one that does not fit ends the turn as failed, with its text. A check
 * that takes its time is cut off like everything else.
 */
export async function outputOf(
  end: DispatchEnd,
  shape: OutputShape | undefined,
  interruption: Interruption,
): Promise<DispatchEnd & { output?: unknown }> {
  if (shape === undefined || end.status !== 'completed') return end
  try {
    const answer = parseArguments(end.text, ARGUMENT_LIMITS, ANSWER)
    const checking = shape.validate(answer)
    const result =
      checking instanceof Promise ? await interruption.watch.orAborted(checking) : checking
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

const rejected = (end: DispatchEnd, why: string): DispatchEnd => ({
  ...end,
  status: 'failed',
  reason: {
    code: 'OUTPUT_REJECTED',
    message: `The answer does not have the shape asked for: ${why}`,
  },
})
