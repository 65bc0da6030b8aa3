import { asList, asObject } from '../../model/wire/wire-value.ts'
import { isTag } from './wire/wire.ts'

/** Its blocks have no `type`: the one member that each has says what it is. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  const isResponse =
    whole?.['stopReason'] !== undefined || asObject(asObject(whole?.['output'])?.['message'])
  if (isResponse) return true
  if (whole?.['messages'] !== undefined && EXTRAS.some((name) => whole[name] !== undefined)) {
    return true
  }
  const entries = Array.isArray(payload) ? payload : asList(whole?.['messages'] ?? [payload])
  return entries.some((value) => {
    const entry = asObject(value)
    const content = entry?.['content']
    return Array.isArray(content) ? content.some(isBlock) : isBlock(entry)
  })
}

/** Members of a request that no other protocol has beside `messages`. */
const EXTRAS = ['additionalModelRequestFields', 'inferenceConfig', 'modelId', 'toolConfig']

function isBlock(value: unknown): boolean {
  const block = asObject(value)
  if (block === undefined || block['type'] !== undefined || block['role'] !== undefined)
    return false
  const [name, ...others] = Object.keys(block)
  return name !== undefined && others.length === 0 && isTag(name)
}
