import type {
  ResponseCustomToolCallOutput,
  ResponseInputItem,
  ResponseToolSearchOutputItemParam,
} from 'openai/resources/responses/responses'
import type { JsonObject, JsonValue } from '../../../../core/json/json.ts'
import type { EncodeContext } from '../../../../model/wire/encode-groups.ts'
import { partsText } from '../../../../model/wire/foreign-text.ts'
import { asList, asObject, without } from '../../../../model/wire/wire-value.ts'
import type { CallItem, CallResult, MediaPart } from '../../../../records/history-item.ts'
import { urlOf } from '../../media-url.ts'
import { encodePart, type InputPart } from '../wire/content.ts'

// A screenshot is the only answer that a computer call takes; this one shows nothing.
const BLANK_PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The output item of a runner's call, in the form that the type of the call asks for. */
export function encodeOutput(
  call: CallItem,
  context: EncodeContext,
  api: string,
  hasStandIn: boolean,
): readonly JsonObject[] {
  const result = context.resultOf(call, hasStandIn)
  const call_id = context.callId(call)
  const received = asObject(asObject(context.own(result.providerData))?.['item'])
  // An item id belongs to the stored item; the id of the call is what pairs.
  if (received !== undefined) return [{ ...without(received, 'id', 'created_by'), call_id }]
  const item = asObject(asObject(context.own(call.providerData))?.['item'])
  const shape = item === undefined ? undefined : SHAPES[call.wire.type]
  if (shape !== undefined && item !== undefined) return shape(result, call_id, item, api)
  const caller = asObject(context.own(call.providerData))?.['caller']
  return [
    {
      type: 'function_call_output',
      call_id,
      output: outputOf(result, api),
      ...(caller !== undefined && { caller: caller as Caller }),
    } satisfies ResponseInputItem.FunctionCallOutput,
  ]
}

type SafetyCheck = ResponseInputItem.ComputerCallOutput.AcknowledgedSafetyCheck & JsonObject
type LoadedTools = ResponseToolSearchOutputItemParam['tools'] & JsonObject[]
type ShellOutput = ResponseInputItem.ShellCallOutput['output'] & JsonObject[]
type Output = string | InputPart[]
type Caller = NonNullable<ResponseInputItem.FunctionCallOutput['caller']> & JsonObject

type OutputShape = (
  result: CallResult,
  call_id: string,
  call: JsonObject,
  api: string,
) => readonly JsonObject[]

const SHAPES: Readonly<Record<string, OutputShape>> = {
  custom_tool_call: (result, call_id, _, api) => [
    {
      type: 'custom_tool_call_output',
      call_id,
      output: outputOf(result, api),
    } satisfies ResponseCustomToolCallOutput,
  ],
  computer_call: (result, call_id, call) => {
    const image = result.parts.find((part): part is MediaPart => part.type === 'media')
    const answer = {
      type: 'computer_call_output',
      call_id,
      output: { type: 'computer_screenshot', image_url: image ? urlOf(image) : BLANK_PNG },
      acknowledged_safety_checks: asList(call['pending_safety_checks']) as SafetyCheck[],
    } satisfies ResponseInputItem.ComputerCallOutput
    if (image !== undefined) return [answer]
    return [answer, { type: 'message', role: 'user', content: partsText(result.parts) }]
  },
  apply_patch_call: ({ isError, parts }, call_id) => [
    {
      type: 'apply_patch_call_output',
      call_id,
      status: isError ? 'failed' : 'completed',
      output: partsText(parts),
    } satisfies ResponseInputItem.ApplyPatchCallOutput,
  ],
  // The typed form has no `call_id`, and the server refuses what lacks it.
  local_shell_call: ({ parts }, call_id) => [
    { type: 'local_shell_call_output', call_id, output: partsText(parts) },
  ],
  shell_call: ({ isError, parts }, call_id, call) => {
    const max_output_length = asObject(call['action'])?.['max_output_length']
    return [
      {
        type: 'shell_call_output',
        call_id,
        output: shellOutput(partsText(parts), isError),
        ...(typeof max_output_length === 'number' && { max_output_length }),
      } satisfies ResponseInputItem.ShellCallOutput,
    ]
  },
  tool_search_call: ({ parts }, call_id) => [
    {
      type: 'tool_search_output',
      execution: 'client',
      call_id,
      status: 'completed',
      tools: asList(parsed(partsText(parts))) as LoadedTools,
    } satisfies ResponseToolSearchOutputItemParam,
  ],
}

/** A handler may answer with the wire's own list of outcomes, or with text. */
function shellOutput(text: string, isError: boolean): ShellOutput {
  const list = asList(parsed(text))
  const isOutcome = (entry: JsonValue) => asObject(entry)?.['outcome'] !== undefined
  if (list.length > 0 && list.every(isOutcome)) return list as ShellOutput
  const outcome = { type: 'exit' as const, exit_code: isError ? 1 : 0 }
  return [{ stdout: isError ? '' : text, stderr: isError ? text : '', outcome }]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function outputOf(result: CallResult, api: string): Output {
  if (result.parts.every((part) => part.type === 'text')) return partsText(result.parts)
  return result.parts.map(
    (part) => encodePart(part, api) ?? { type: 'input_text', text: partsText([part]) },
  )
}
