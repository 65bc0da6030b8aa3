import type { ToolCall } from '../records/tool-call.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { Reconciliation } from '../tools/tool-options.ts'
import { type AskedCall, OWN_WIRE } from './ask-calls.ts'
import { shownId } from './conversation-log.ts'
import { recordCall, settle } from './settle-call.ts'
import { settleOutput } from './settle-output.ts'
import type { Turn } from './turn.ts'

/** Asks the tool what became of the call; one that fails to answer does not know. */
export async function reconcile(
  turn: Turn,
  tool: Tool,
  key: string,
): Promise<Reconciliation | undefined> {
  try {
    return await tool.reconcile?.(key)
  } catch (error) {
    turn.observed.emit('error', { error, where: 'reconcile' }, turn.origin)
    return undefined
  }
}

export const NOT_HAPPENED =
  'It is known by now that this call took no effect. It was not run again.'

/**
 * Asks once more about every call that is settled as in doubt. What is found out is a new record beside the
 * old one; the call itself is never run again, because its doubt was told and acted upon.
 */
export async function settleDoubts(turn: Turn): Promise<void> {
  const { conversation, settings } = turn
  const doubts = conversation.calls.filter(
    (call) => call.settlement === 'in-doubt' && conversation.call(shownId(call)) === call,
  )
  for (const call of doubts) {
    const tool = settings.tools.get(call.tool)
    if (tool?.reconcile === undefined) continue
    const intent = await settings.store.get(conversation.id, 'intent', call.id)
    const found = intent && (await reconcile(turn, tool, intent.data.idempotencyKey))
    if (found === undefined || found.happened === 'unknown') continue
    const asked = askedAnew(turn, call)
    const results =
      found.happened === 'yes'
        ? await settleOutput(tool, found.output, turn.results)
        : new Tokenizable(NOT_HAPPENED)
    const settlement = found.happened === 'yes' ? 'ok' : 'aborted'
    await settle(turn, recordCall(turn, asked, { settlement, results, tool, supersedes: call.id }))
    turn.order.push(asked.id)
  }
}

function askedAnew(turn: Turn, call: ToolCall): AskedCall {
  const { tool, args, checksum, rawArgs, wire = OWN_WIRE, providerData } = call
  const id = turn.conversation.ids.claim(shownId(call))
  const item = { type: 'call', id, tool, args, wire, executedBy: 'runner' } as const
  return {
    id,
    request: { tool, args, checksum, ...(rawArgs !== undefined && { rawArgs }) },
    item: { ...item, ...(providerData && { providerData }) },
    createdAt: call.createdAt,
    ...(call.editOf !== undefined && { editOf: call.editOf }),
    ...(call.redacted !== undefined && { redacted: call.redacted }),
  }
}
