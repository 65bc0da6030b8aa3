import { asList, asObject } from '../../model/wire/wire-value.ts'

const BLOCKS = /^(tool_use|tool_result|server_tool_use|thinking|redacted_thinking|\w+_tool_result)$/

/** Messages differ from those of chat servers by their blocks, by `system` beside them, or by their tools. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  const entries = (Array.isArray(payload) ? payload : asList(whole?.['messages'] ?? [payload]))
    .map(asObject)
    .filter((entry) => entry !== undefined)
  const isChat = entries.some(
    ({ role, tool_calls }) =>
      tool_calls !== undefined || role === 'tool' || role === 'system' || role === 'developer',
  )
  if (isChat) return false
  const blocks = [whole, ...entries].flatMap((entry) => asList(entry?.['content'])).map(asObject)
  if ([...blocks, ...entries].some((block) => isBlock(block?.['type']))) return true
  if (whole?.['messages'] === undefined) return whole?.['stop_reason'] !== undefined
  if (whole['system'] !== undefined || whole['anthropic_version'] !== undefined) return true
  return asList(whole['tools']).some((tool) => asObject(tool)?.['input_schema'] !== undefined)
}

const isBlock = (type: unknown) => typeof type === 'string' && BLOCKS.test(type)
