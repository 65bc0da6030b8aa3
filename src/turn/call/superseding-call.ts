import type { ToolCall } from '../../records/tool-call.ts'
import { type AskedCall, shownId } from '../log/call-state.ts'
import { OWN_WIRE } from '../log/fact.ts'
import type { CallScope } from './call-scope.ts'

/** The call of a record that takes the place of one in doubt: the same call under an id of its own. */
export function supersedingCall(scope: CallScope, doubt: ToolCall): AskedCall {
  const { tool, args, checksum, rawArgs, wire = OWN_WIRE, providerData, editOf, redacted } = doubt
  const id = scope.log.state.ids.claim(shownId(doubt))
  const item = { type: 'call', id, tool, args, wire, executedBy: 'runner' } as const
  return {
    item: { ...item, ...(providerData && { providerData }) },
    checksum,
    askedAt: doubt.createdAt.toMillis(),
    ...(rawArgs !== undefined && { rawArgs }),
    ...(editOf !== undefined && { editOf }),
    ...(redacted !== undefined && { redacted }),
  }
}
