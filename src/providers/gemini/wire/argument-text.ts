import type { JsonValue } from '../../../core/json/json.ts'
import { elementsAt, memberAt, textAt } from '../../../core/json/json-scan.ts'
import { asObject } from '../../../model/wire/wire-value.ts'

/**
 * The parts of a response with the arguments of calls as the text that was sent: parsing has merged
 * duplicate keys in them and rounded large integers. `source` is what `response` was parsed from.
 */
export function partsWithArgsText(
  parts: readonly JsonValue[],
  candidate: number,
  source: string,
): readonly JsonValue[] {
  if (!parts.some(hasArgs)) return parts
  const candidates = elementsAt(source, memberAt(source, 0, 'candidates'))
  const content = memberAt(source, candidates[candidate] ?? 0, 'content')
  const starts = elementsAt(source, memberAt(source, content, 'parts'))
  return parts.map((part, index) => {
    if (!hasArgs(part)) return part
    const start = starts[index] ?? 0
    const camel = memberAt(source, start, 'functionCall')
    const call = camel === start ? memberAt(source, start, 'function_call') : camel
    const args = textAt(source, memberAt(source, call, 'args'))
    return {
      ...asObject(part),
      functionCall: { ...asObject(asObject(part)?.['functionCall']), args },
    }
  })
}

function hasArgs(part: JsonValue): boolean {
  const args = asObject(asObject(asObject(part)?.['functionCall'])?.['args'])
  return args !== undefined && Object.keys(args).length > 0
}
