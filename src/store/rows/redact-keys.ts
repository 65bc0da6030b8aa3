import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import { invalidInput } from '../store-errors.ts'
import type { Redact } from './redaction.ts'

const ARGUMENT_FIELDS = ['args', 'effectiveArgs']

/** A hook that removes every argument and every part of a turn's context, at any depth, whose key matches. */
export function redactKeys(pattern: RegExp): Redact {
  if (typeof pattern?.source !== 'string' || typeof pattern.flags !== 'string') {
    throw invalidInput('pattern', 'must be a regular expression, such as `/password|token/i`')
  }
  const { source, flags } = pattern
  // A `g` or `y` flag would make `test` remember where it stopped.
  const key = new RegExp(source, flags.replace(/[gy]/g, ''))
  return ({ kind, data }) => {
    const found: string[] = []
    const visit = (value: JsonValue | undefined, path: string) => {
      if (typeof value !== 'object' || value === null) return
      for (const [name, member] of Object.entries(value)) {
        const here = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        if (!Array.isArray(value) && key.test(name)) found.push(here)
        else visit(member, here)
      }
    }
    const closing =
      kind === 'gate-closed' ? (data['decision'] as JsonObject | undefined) : undefined
    visit(closing?.['args'], '/decision/args')
    visit(closing?.['value'], '/decision/value')
    if (kind === 'turn-start') visit(data['context'], '/context')
    for (const field of ARGUMENT_FIELDS) visit(data[field], `/${field}`)
    // No keys can be read in arguments that are not JSON, so none of their text is stored.
    if (Object.hasOwn(Object(data['args']) as object, '$unparsed'))
      found.push('/args/$unparsed/head')
    return found
  }
}
