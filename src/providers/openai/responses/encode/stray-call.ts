import type { JsonObject } from '../../../../core/json/json.ts'
import { asList, asText } from '../../../../model/wire/wire-value.ts'

/**
 * The least call that an output of each type can answer. An output that came without its call gets one
 * of these, empty, because a request that holds the output alone is refused.
 */
const CALLS: Readonly<Record<string, (output: JsonObject) => JsonObject>> = {
  custom_tool_call_output: () => ({ type: 'custom_tool_call', input: '' }),
  computer_call_output: (output) => ({
    type: 'computer_call',
    status: 'completed',
    actions: [],
    pending_safety_checks: asList(output['acknowledged_safety_checks']),
  }),
  apply_patch_call_output: () => ({
    type: 'apply_patch_call',
    status: 'completed',
    operation: { type: 'update_file', path: 'unknown', diff: '' },
  }),
  local_shell_call_output: () => ({
    type: 'local_shell_call',
    status: 'completed',
    action: { type: 'exec', command: [], env: {} },
  }),
  shell_call_output: () => ({ type: 'shell_call', status: 'completed', action: { commands: [] } }),
  tool_search_output: () => ({
    type: 'tool_search_call',
    execution: 'client',
    status: 'completed',
    arguments: {},
  }),
}

/** The call to put before a stray output of this type; undefined when a function call will do. */
export function strayCall(output: JsonObject, tool: string): JsonObject | undefined {
  const make = CALLS[asText(output['type']) ?? '']
  const call = make?.(output)
  return call?.['type'] === 'custom_tool_call' ? { ...call, name: tool } : call
}
