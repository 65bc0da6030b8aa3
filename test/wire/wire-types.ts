import type { WireApi } from '../../src/model/wire/wire-adapter.ts'

const responses = [
  'apply_patch_call',
  'apply_patch_call_output',
  'code_interpreter_call',
  'computer_call',
  'computer_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'file_search_call',
  'function_call',
  'function_call_output',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'program',
  'program_output',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
]

/** Tools that Foundry runs: each is a call and an output. */
const foundryPairs = [
  'a2a_preview_call',
  'azure_ai_search_call',
  'azure_function_call',
  'bing_custom_search_preview_call',
  'bing_grounding_call',
  'browser_automation_preview_call',
  'fabric_dataagent_preview_call',
  'memory_command_preview_call',
  'openapi_call',
  'sharepoint_grounding_preview_call',
]

/** Every type of tool call and tool output that a protocol has; Foundry's are those it adds. */
export const WIRE_TYPES: Readonly<Record<WireApi, readonly string[]>> = {
  'openai-responses': responses,
  'openai-chat': ['chunk', 'custom', 'function', 'tool'],
  'anthropic-messages': [
    'advisor_tool_result',
    'bash_code_execution_tool_result',
    'code_execution_tool_result',
    'mcp_tool_result',
    'mcp_tool_use',
    'server_tool_use',
    'text_editor_code_execution_tool_result',
    'tool_result',
    'tool_search_tool_result',
    'tool_use',
    'web_fetch_tool_result',
    'web_search_tool_result',
  ],
  gemini: [
    'codeExecutionResult',
    'executableCode',
    'functionCall',
    'functionResponse',
    'toolCall',
    'toolResponse',
  ],
  foundry: [
    ...foundryPairs.flatMap((type) => [type, `${type}_output`]),
    'memory_search_call',
    'oauth_consent_request',
    'workflow_action',
  ],
}
