import { cutBytes } from '../../core/error/cut-text.ts'
import { BobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { ARGUMENT_LIMITS, parseArguments } from '../../core/json/strict-json.ts'
import type { InputSchema, Validator } from '../../tools/input-schema.ts'
import { compileSchema } from '../../tools/schema-validation.ts'
import type { Interruption } from '../limits/cut-off.ts'
import { errorText } from '../limits/failure.ts'
import type { DispatchEnd } from '../limits/outcome.ts'

/** The schema of an answer: any schema that a tool's input may have. */
export type OutputSchema = InputSchema

/** The schema of an answer, alone or with the number of answers that the model may give until one fits. */
export type OutputRequest<S extends OutputSchema = OutputSchema> =
  | S
  | {
      readonly schema: S
      /** How many answers are checked: 1 means no correction, which is the default. At most 10. */
      readonly attempts?: number
    }

const SCHEMA = { name: 'output', path: 'output', code: 'E_INVALID_TURN_INPUT' } as const
const ANSWER = { root: 'output', code: 'E_INVALID_OUTPUT' } as const

const MAX_ATTEMPTS = 10

/** The compiled schema of an answer: its JSON Schema for the model, and its check. */
export interface OutputShape {
  readonly attempts: number
  readonly request: { readonly name: string; readonly schema: JsonObject }
  readonly validate: Validator
}

/** Compiles a schema; throws if it cannot be used. */
export function outputShape(output: OutputRequest): OutputShape {
  const { schema, attempts } = requestOf(output)
  const { jsonSchema, validate } = compileSchema(schema, SCHEMA)
  return { request: { name: 'answer', schema: jsonSchema }, validate, attempts }
}

function requestOf(output: OutputRequest): { schema: OutputSchema; attempts: number } {
  if (!isWithAttempts(output)) return { schema: output, attempts: 1 }
  const { schema, attempts = 1, ...others } = output
  const [stray] = Object.keys(others)
  if (stray !== undefined)
    throw invalid(`output.${stray}`, 'is not known: use `schema`, `attempts`')
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > MAX_ATTEMPTS) {
    throw invalid('output.attempts', `must be a whole number from 1 to ${MAX_ATTEMPTS}`)
  }
  return { schema, attempts }
}

function isWithAttempts(
  output: OutputRequest,
): output is { readonly schema: OutputSchema; readonly attempts?: number } {
  const isObject = typeof output === 'object' && (output as object | null) !== null
  return isObject && !('~standard' in output) && !('type' in output) && 'schema' in output
}

function invalid(path: string, rule: string): BobbinError {
  const message = `\`${path}\` of the turn ${rule}.`
  return new BobbinError('E_INVALID_TURN_INPUT', message, { path, rule })
}

/**
 * Reads and checks a completed answer, once. An answer that does not fit fails the turn and keeps its text. An abort ends a
 * slow check too.
 */
export async function checkedOutput(
  end: DispatchEnd,
  shape: OutputShape | undefined,
  interruption: Interruption,
): Promise<DispatchEnd> {
  if (shape === undefined || end.status !== 'completed' || 'output' in end) return end
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

/** True for an answer that does not fit its schema. */
export const isRejected = (end: DispatchEnd): boolean => end.reason?.code === 'OUTPUT_REJECTED'

const MAX_WHY = 2_000

/** The message that asks the model for another answer. It is stored, so that requests after a restart are the same. */
export const correctionText = (why: string): string =>
  `${cutBytes(why, MAX_WHY)}\nAnswer again, with JSON that fits the schema and nothing else.`
