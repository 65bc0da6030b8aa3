import { asObject } from '../../../model/wire/wire-value.ts'
import { inSnakeCase, serverStep, typeOf } from './wire/wire.ts'

/** Members that only a request of this protocol has. */
const REQUEST = ['system_instruction', 'generation_config', 'previous_interaction_id']

/** Steps that no other protocol has under this name. `file_search_call` and `code_…` stand in others too. */
const STEPS =
  /^(user_input|model_output|function_result|(google|url_context|retrieval|mcp_server_tool|processing)_.*(call|result))$/

/** True for interactions, their events, requests with steps, and steps. */
export function detect(payload: unknown): boolean {
  const whole = asObject(payload)
  const read = whole === undefined ? {} : inSnakeCase(whole)
  if (read['object'] === 'interaction' || Array.isArray(read['steps'])) return true
  if (typeof read['event_type'] === 'string') return true
  const { input } = read
  if (input !== undefined && REQUEST.some((name) => read[name] !== undefined)) return true
  const entries: readonly unknown[] = [input ?? payload].flat()
  return entries.some((entry) => {
    const step = asObject(entry)
    const type = typeOf(step)
    if (type === 'thought')
      return step?.['signature'] !== undefined || step?.['summary'] !== undefined
    return STEPS.test(type) || serverStep(type)?.isCall === false
  })
}
