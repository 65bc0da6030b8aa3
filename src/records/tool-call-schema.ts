import * as v from 'valibot'
import { checksum } from '../core/checksum.ts'
import { dateField, frozenJson, idField, jsonObjectField, trustField } from '../core/fields.ts'
import type { PlainObject } from '../core/json.ts'
import { recordFields, shortcutOf, withShortcut } from '../core/shortcut.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import { providerDataField, wireReferenceField } from '../core/wire-reference.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { rawArgsField, resultsField } from './tool-call-results.ts'

/** How a call ended. */
export const SETTLEMENTS = [
  'ok',
  'failed',
  'refused',
  'denied',
  'abandoned',
  'aborted',
  'timed-out',
  'in-doubt',
] as const

/** How a call ended. */
export type Settlement = (typeof SETTLEMENTS)[number]

const ARGS_RULE = 'must be a plain object, or a string that holds a JSON object'

const CHECKSUM_RULE = 'must be 64 lower-case hex digits, or be left out'

const argsField = v.pipe(
  v.custom<string | PlainObject>(
    (input) => typeof input === 'string' || (typeof input === 'object' && input !== null),
    ARGS_RULE,
  ),
  frozenJson((input) => normalizeArguments(input)),
)

const fields = recordFields({
  /** Correlates the request with its result; unique in the conversation. */
  id: idField,
  /** The tool's name as the model gave it. */
  tool: v.string('must be a string: the name of the tool'),
  /** The arguments as the model supplied them, as real JSON. */
  args: withShortcut(argsField, (input) => {
    try {
      return normalizeArguments(input)
    } catch {
      return undefined
    }
  }),
  /** Computed from `tool` and `args`; a supplied one is verified. */
  checksum: v.optional(v.pipe(v.string(CHECKSUM_RULE), v.regex(/^[0-9a-f]{64}$/, CHECKSUM_RULE))),
  /** What the handler got, when validation changed it. */
  effectiveArgs: v.optional(jsonObjectField),
  /** The exact text received, when it could not be parsed. */
  rawArgs: v.optional(rawArgsField),
  /** What the call gave, or the detail of its error: one of three silos. */
  results: resultsField,
  /** Always true: what is still running is never a record. */
  isComplete: v.literal(true, 'must be true: a record exists only for a call that has settled'),
  isError: v.boolean('must be a boolean'),
  settlement: v.optional(v.picklist(SETTLEMENTS, `must be one of ${SETTLEMENTS.join(', ')}`)),
  executedBy: v.optional(
    v.picklist(['runner', 'provider'], 'must be runner or provider'),
    'runner',
  ),
  /** Whether the result is rendered in the prompt or shown as a handle. */
  inline: v.optional(v.boolean('must be a boolean'), true),
  /** Marks answers of artifact tools, which no further artifact tool may query. */
  fromArtifactTool: v.optional(v.boolean('must be a boolean'), false),
  /** Written when the result is produced; it can only go down from there. */
  trust: v.optional(trustField, 'third-party'),
  /** Where the call came from, with the provider's own ids. */
  wire: v.optional(wireReferenceField),
  /** Opaque state for the provider that made the call. */
  providerData: v.optional(providerDataField),
  /** The record whose arguments a person changed into these. */
  editOf: v.optional(idField),
  /** The record in doubt that this one settles. */
  supersedes: v.optional(idField),
  /** Paths whose values were removed before storing; the checksum is then not recomputed. */
  redacted: v.optional(
    v.pipe(
      v.custom<readonly string[]>(isNonEmptyList, 'must be a non-empty array of paths'),
      v.transform((paths): readonly string[] => Object.freeze([...paths])),
    ),
  ),
  /** When the call was announced. */
  createdAt: dateField,
  updatedAt: v.optional(dateField),
  completedAt: dateField,
})

const carefulToolCall = v.pipe(
  fields,
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    const fault = crossFieldFault(value)
    if (fault === undefined) return completed(value)
    const [key, message] = fault
    addIssue({
      message,
      path: [{ type: 'object', origin: 'value', input: value, key, value: value[key] }],
    })
    return NEVER
  }),
)

const readFields = shortcutOf(fields)

/** The fields of a settled call, and the rules between them. */
export const toolCallSchema = withShortcut(carefulToolCall, (input, config) => {
  const value = readFields?.(input, config)
  return value && crossFieldFault(value) === undefined ? completed(value) : undefined
})

type Fields = v.InferOutput<typeof fields>
type Completed = 'checksum' | 'settlement' | 'updatedAt'
type CompletedCall = Fields & { [K in Completed]: NonNullable<Fields[K]> }

/** What the constructor of `ToolCall` takes. */
export type RawToolCall = v.InferInput<typeof toolCallSchema>

/** The parsed object is ours alone: completing it in place costs half of what a copy does. */
function completed(value: Fields): CompletedCall {
  value.checksum ??= checksum(value.tool, value.args)
  value.settlement ??= value.isError ? 'failed' : 'ok'
  value.updatedAt ??= value.completedAt
  return value as CompletedCall
}

function isNonEmptyList(input: unknown): boolean {
  return Array.isArray(input) && input.length > 0 && input.every((path) => typeof path === 'string')
}

function crossFieldFault(call: Fields): [keyof Fields, string] | undefined {
  const { settlement, isError, fromArtifactTool, results, redacted, checksum: given } = call
  if (settlement !== undefined && (settlement !== 'ok') !== isError) {
    return ['settlement', `must agree with isError: ${isError} does not go with ${settlement}`]
  }
  if (fromArtifactTool && !Tokenizable.isTokenizable(results)) {
    const rule =
      'must be text when fromArtifactTool is true: artifact tools answer with Tokenizable'
    return ['results', rule]
  }
  if (redacted !== undefined) {
    if (given !== undefined) return undefined
    return ['checksum', 'is required on a redacted record: it cannot be computed any more']
  }
  if (given === undefined || given === checksum(call.tool, call.args)) return undefined
  const rule =
    'does not match tool and args: they were altered, or leave it out to have it computed'
  return ['checksum', rule]
}
