import { brief } from '../error/cut-text.ts'
import { BobbinError } from '../error/error.ts'
import type { ArgumentRule, ErrorCode, ErrorData } from '../error/error-codes.ts'

/** Keys and indexes from the value as a whole down to the offender. */
export type JsonPath = readonly (string | number)[]

/** How errors name the value that is read as strict JSON. */
export interface JsonSubject {
  /** The name of the whole, with which paths begin. */
  readonly root: string
  readonly code: PathCode
}

/** The codes that tell a path and a rule. */
export type PathCode = {
  [Code in ErrorCode]: { path: string; rule: ArgumentRule } extends ErrorData[Code] ? Code : never
}[ErrorCode]

/** What a model or a program passes to a tool. */
export const ARGUMENTS: JsonSubject = { root: 'args', code: 'E_INVALID_ARGUMENTS' }

/** Which rule is broken, where, and what there is to say about it. */
export interface JsonFault {
  readonly rule: ArgumentRule
  readonly path: JsonPath
  readonly detail?: string | undefined
}

const RULES: Record<ArgumentRule, string> = {
  'not-json': 'is not JSON; send one complete JSON object',
  'not-an-object': 'is not an object; wrap the value in one, as in {"value": …}',
  'duplicate-key': 'occurs twice in the same object; keep one of the two',
  'unsafe-integer':
    'is an integer beyond ±9007199254740991, which JSON numbers cannot hold exactly; send it as a string',
  'not-finite': 'is not a finite number; send null or a string instead',
  'lone-surrogate':
    'has half of a surrogate pair, which is not valid Unicode; send whole characters',
  'too-deep': 'nests too deep; flatten it, or pass the inner part as a string of JSON',
  'too-large': 'makes the whole too large; pass less, or a reference to where the data is',
  cycle: 'contains itself; break the circle',
  'not-plain':
    'is not a plain object or array; convert it to plain JSON first, a Date for instance with toISOString()',
  'sparse-array': 'is a hole in an array; fill it with null',
  'unsupported-type':
    'has no JSON form; leave it out, or convert it to a string, number, boolean or null',
}

/** The error for what is not strict JSON: names the place, the rule and the way out. */
export function jsonError(subject: JsonSubject, { rule, path, detail }: JsonFault): BobbinError {
  const place = subject.root + formatPath(path)
  const more = detail === undefined ? '' : ` (${detail})`
  const message = `\`${place}\` ${RULES[rule]}${more}.`
  return new BobbinError(subject.code, message, { path: place, rule })
}

const SHOWN_KEY = 40
const SHOWN_ENDS = 8

/** A path as one would write it in code, `.filter[2].id`, cut where keys or depth are excessive. */
export function formatPath(path: JsonPath): string {
  const whole = path.length <= 2 * SHOWN_ENDS
  const shown = whole ? path : [...path.slice(0, SHOWN_ENDS), ...path.slice(-SHOWN_ENDS)]
  const steps = shown.map(formatStep)
  if (!whole) steps.splice(SHOWN_ENDS, 0, '…')
  return steps.join('')
}

function formatStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  if (step.length <= SHOWN_KEY && /^[A-Za-z_$][\w$]*$/.test(step)) return `.${step}`
  const cut = brief(step, SHOWN_KEY + 1)
  // Backticks quote the path in messages, so they are escaped like quotes.
  return `[${JSON.stringify(cut.toWellFormed()).replaceAll('`', '\\u0060')}]`
}
