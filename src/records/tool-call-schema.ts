import * as v from 'valibot'
import { checksum } from '../core/checksum.ts'
import { dateField, frozenJson, idField, jsonObjectField, trustField } from '../core/fields.ts'
import type { PlainObject } from '../core/json/json.ts'
import { normalizeArguments } from '../core/json/strict-json.ts'
import { providerDataField, wireReferenceField } from '../core/wire-reference.ts'
import { Media } from '../spool/media.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import { approvedByField } from './approved-by.ts'
import { placedMediaField } from './placed-media.ts'
import { rawArgsField, resultsField } from './tool-call-results.ts'

/** How a call ended. */
export const SETTLEMENTS = [
  'ok',
  'failed',
  'refused',
  'denied',
  'edited',
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

const fields = v.strictObject({
  id: idField,
  tool: v.string('must be a string: the name of the tool'),
  args: argsField,
  checksum: v.optional(v.pipe(v.string(CHECKSUM_RULE), v.regex(/^[0-9a-f]{64}$/, CHECKSUM_RULE))),
  effectiveArgs: v.optional(jsonObjectField),
  rawArgs: v.optional(rawArgsField),
  results: resultsField,
  media: v.optional(placedMediaField),
  isComplete: v.literal(true, 'must be true: a record exists only for a call that has settled'),
  isError: v.boolean('must be a boolean'),
  settlement: v.optional(v.picklist(SETTLEMENTS, `must be one of ${SETTLEMENTS.join(', ')}`)),
  executedBy: v.optional(
    v.picklist(['runner', 'provider', 'external'], 'must be runner, provider or external'),
    'runner',
  ),
  inline: v.optional(v.boolean('must be a boolean'), true),
  fromArtifactTool: v.optional(v.boolean('must be a boolean'), false),
  trust: v.optional(trustField, 'third-party'),
  wire: v.optional(wireReferenceField),
  providerData: v.optional(providerDataField),
  approvedBy: v.optional(approvedByField),
  editOf: v.optional(idField),
  supersedes: v.optional(idField),
  undoes: v.optional(idField),
  redacted: v.optional(
    v.pipe(
      v.custom<readonly string[]>(isNonEmptyList, 'must be a non-empty array of paths'),
      v.transform((paths): readonly string[] => Object.freeze([...paths])),
    ),
  ),
  createdAt: dateField,
  updatedAt: v.optional(dateField),
  completedAt: dateField,
})

/** The fields of a settled call, and the rules between them. */
export const toolCallSchema = v.pipe(
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

type Fields = v.InferOutput<typeof fields>
type Completed = 'checksum' | 'settlement' | 'updatedAt'
type CompletedCall = Fields & { [K in Completed]: NonNullable<Fields[K]> }

/** What the constructor of `ToolCall` takes. */
export type RawToolCall = v.InferInput<typeof toolCallSchema>

function completed(value: Fields): CompletedCall {
  const {
    checksum: given = checksum(value.tool, value.args),
    settlement = value.isError ? 'failed' : 'ok',
    updatedAt = value.completedAt,
  } = value
  return Object.assign(value, { checksum: given, settlement, updatedAt })
}

function isNonEmptyList(input: unknown): boolean {
  return Array.isArray(input) && input.length > 0 && input.every((path) => typeof path === 'string')
}

function crossFieldFault(call: Fields): [keyof Fields, string] | undefined {
  const { settlement, isError, fromArtifactTool, results, media, redacted } = call
  const { checksum: given } = call
  if (settlement !== undefined && (settlement !== 'ok') !== isError) {
    return ['settlement', `must agree with isError: ${isError} does not go with ${settlement}`]
  }
  if (fromArtifactTool && !Tokenizable.isTokenizable(results)) {
    const rule =
      'must be text when fromArtifactTool is true: artifact tools answer with Tokenizable'
    return ['results', rule]
  }
  if (media !== undefined && [results].flat().some(Media.isMedia)) {
    return ['media', 'go with results that are text: media alone are the results']
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
