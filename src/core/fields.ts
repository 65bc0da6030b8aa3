import { DateTime, FixedOffsetZone } from 'luxon'
import * as v from 'valibot'
import { isBobbinError } from './error/error.ts'
import type { JsonObject, JsonValue } from './json/json.ts'
import { ARGUMENT_LIMITS, normalizeArguments, normalizeJson } from './json/strict-json.ts'
import { TRUST_TIERS } from './trust.ts'

/** The last time that was made: most records have the same time in several fields. It is immutable. */
let latest: DateTime<true> | undefined

/** A time in UTC, as records hold it. */
export function utcTime(millis: number): DateTime<true> {
  const whole = Math.trunc(millis)
  if (latest?.toMillis() === whole) return latest
  const time = DateTime.fromMillis(whole, UTC) as DateTime<true>
  if (time.isValid) latest = time
  return time
}

/** The stored form of a time. */
export function isoTime(time: DateTime): string {
  return new Date(time.toMillis()).toISOString()
}

const UTC = { zone: FixedOffsetZone.utcInstance }

/** What a time field accepts; it is stored as a Luxon `DateTime` in UTC. */
export type DateInput = string | number | Date | DateTime

const ISO_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const DATE_RULE =
  'must be a date: an ISO 8601 string, epoch milliseconds, a Date or a Luxon DateTime'

/** A time field. A `DateTime` is immutable, but must not be frozen: Luxon caches inside it. */
export const dateField = v.pipe(
  v.custom<DateInput>((input) => input !== undefined, DATE_RULE),
  v.rawTransform<DateInput, DateTime<true>>(({ dataset, addIssue, NEVER }) => {
    const date = dateOf(dataset.value)
    if (date?.isValid) return date as DateTime<true>
    addIssue({ message: DATE_RULE })
    return NEVER
  }),
)

/** Objects that look like a Date or a DateTime may throw; so may Luxon if it is set to. */
function dateOf(input: DateInput): DateTime | undefined {
  try {
    return toDateTime(input)
  } catch {
    return undefined
  }
}

function toDateTime(input: DateInput): DateTime | undefined {
  if (typeof input === 'number') return utcTime(input)
  if (typeof input === 'string') return fromText(input)
  if (DateTime.isDateTime(input)) return utcTime(input.toMillis())
  if (Object.prototype.toString.call(input) !== '[object Date]') return undefined
  const millis = Date.prototype.getTime.call(input)
  return Number.isNaN(millis) ? undefined : utcTime(millis)
}

/** `Date.parse` reads the stored form ten times faster than Luxon does. */
function fromText(text: string): DateTime {
  const millis = ISO_UTC.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis) ? DateTime.fromISO(text, { zone: 'utc' }) : utcTime(millis)
}

/** A non-empty identifier, kept verbatim. */
export const idField = v.pipe(
  v.string('must be a non-empty string'),
  v.nonEmpty('must be a non-empty string'),
)

/** One of the trust tiers. */
export const trustField = v.picklist(TRUST_TIERS, `must be one of ${TRUST_TIERS.join(', ')}`)

/** JSON has no minus zero; `-0 + 0` is 0. */
export const plainZero = v.transform((value: number) => value + 0)

/** A score between 0 and 1. */
export const scoreField = v.pipe(
  v.number('must be a number from 0 to 1'),
  v.minValue(0, 'must be a number from 0 to 1'),
  v.maxValue(1, 'must be a number from 0 to 1'),
  plainZero,
)

/** The error around it names the record and the field. */
const FIELD = { root: 'value', code: 'E_INVALID_ARGUMENTS' } as const

/** An object of real JSON, copied and deep-frozen. */
export const jsonObjectField = v.pipe(
  v.custom<Readonly<Record<string, unknown>> | JsonObject>(
    (input) => typeof input === 'object' && input !== null,
    'must be a plain object of JSON values',
  ),
  frozenJson((input) => normalizeArguments(input, ARGUMENT_LIMITS, FIELD)),
)

/** Any JSON value, copied and deep-frozen. */
export const jsonField = v.pipe(
  v.custom<unknown>((input) => input !== undefined, 'must be a JSON value'),
  frozenJson((input) => normalizeJson(input, FIELD)),
)

/** Runs a strict JSON conversion inside a schema and reports its error as the field's rule. */
export function frozenJson<Input, Output extends JsonValue>(convert: (input: Input) => Output) {
  return v.rawTransform<Input, Output>(({ dataset, addIssue, NEVER }) => {
    try {
      return convert(dataset.value)
    } catch (error) {
      if (!isBobbinError(error)) throw error
      addIssue({
        message: `must be strict JSON: ${error.message.replace(/\.$/, '')}`,
        input: error,
      })
      return NEVER
    }
  })
}
