import type { WireReference } from '../core/wire-reference.ts'
import type { CallItem, ContentPart } from '../records/history-item.ts'
import type { ToolCall } from '../records/tool-call.ts'

/** Stands for the wire of a call that no provider asked for. */
const NO_WIRE: WireReference = Object.freeze({
  provider: 'bobbin',
  api: 'bobbin',
  type: 'call',
  origin: 'synthetic',
})

/** A settled call with its rendered result in the form that encoders take. */
export function callItem(
  call: ToolCall,
  parts: readonly ContentPart[],
  response?: string,
): CallItem {
  return {
    type: 'call',
    id: call.id,
    tool: call.tool,
    args: call.args,
    wire: call.wire ?? NO_WIRE,
    executedBy: call.executedBy,
    result: { isError: call.isError, parts },
    ...(typeof call.rawArgs === 'string' && { rawArgs: call.rawArgs }),
    ...(call.providerData !== undefined && { providerData: call.providerData }),
    ...(response !== undefined && { response }),
  }
}
