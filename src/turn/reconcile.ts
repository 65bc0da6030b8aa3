import type { ToolCall } from '../records/tool-call.ts'
import { IMPORTED_KEY } from '../store/entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolOutput } from '../tools/tool-context.ts'
import type { Reconciliation } from '../tools/tool-options.ts'
import { AbortWatch } from './abort-watch.ts'
import type { AskedCall } from './asked-call.ts'
import { shownId } from './conversation-log.ts'
import { errorText } from './error-text.ts'
import { faultOf } from './fault.ts'
import { doubtsIn } from './in-doubt.ts'
import { OWN_WIRE } from './item-records.ts'
import { type CallEnd, recordCall, settle } from './settle-call.ts'
import { settleOutput } from './settle-output.ts'
import { ofStore } from './store-failure.ts'
import { MAX_TIMER_MS } from './timer-limit.ts'
import type { Turn } from './turn.ts'

/** Asks the tool what became of the call; one that fails to answer, or takes longer than a call may, does not know. */
export async function reconcile(
  turn: Turn,
  tool: Tool,
  key: string,
): Promise<Reconciliation | undefined> {
  if (tool.reconcile === undefined) return undefined
  const ms = Math.min(tool.timeoutMs ?? turn.settings.timeoutMs, MAX_TIMER_MS)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms} ms`)), ms)
  const signal = AbortSignal.any([turn.signal, late.signal])
  const watch = new AbortWatch(signal)
  try {
    signal.throwIfAborted()
    return await watch.orAborted((async () => tool.reconcile?.(key))())
  } catch (error) {
    turn.signal.throwIfAborted()
    turn.observed.emit('error', { error, where: 'reconcile' }, turn.origin)
    return undefined
  } finally {
    clearTimeout(timer)
    watch.clear()
  }
}

/** How a call ends that is known to have happened; one whose output cannot be kept ends as it would have then. */
export async function happenedEnd(turn: Turn, tool: Tool, output: ToolOutput): Promise<CallEnd> {
  try {
    const settling = (async () => settleOutput(tool, output, turn.results, turn))()
    return { settlement: 'ok', results: await turn.interruption.watch.orAborted(settling), tool }
  } catch (error) {
    // Nothing is lost: whoever goes on asks the tool again.
    turn.signal.throwIfAborted()
    if (faultOf(error) === 'store') throw error
    const text = `The call took effect, and what it returned cannot be kept: ${errorText(error)}`
    return { settlement: 'failed', results: new Tokenizable(text), tool }
  }
}

export const NOT_HAPPENED =
  'It is known by now that this call took no effect. It was not run again.'

/**
 * Asks once more about every call that an earlier turn settled as in doubt. What is found out is a new record beside the
 * old one; the call itself is never run again, because its doubt was told and acted upon.
 */
export async function settleDoubts(turn: Turn): Promise<void> {
  const { conversation, settings } = turn
  const doubts = doubtsIn(conversation).filter(({ id }) => !turn.settled.has(id))
  for (const call of doubts) {
    const tool = settings.tools.get(call.tool)
    if (tool?.reconcile === undefined) continue
    const { store } = settings
    const intent = await ofStore(() => store.get(conversation.id, 'intent', call.id))
    const key = intent?.data.idempotencyKey ?? IMPORTED_KEY
    const found = key === IMPORTED_KEY ? undefined : await reconcile(turn, tool, key)
    if (found === undefined || found.happened === 'unknown') continue
    const asked = supersedingCall(turn, call)
    const end: CallEnd =
      found.happened === 'yes'
        ? await happenedEnd(turn, tool, found.output)
        : { settlement: 'aborted', results: new Tokenizable(NOT_HAPPENED), tool }
    await settle(turn, recordCall(turn, asked, { ...end, supersedes: call.id }))
    turn.order.push(asked.id)
  }
}

function supersedingCall(turn: Turn, call: ToolCall): AskedCall {
  const { tool, args, checksum, rawArgs, wire = OWN_WIRE, providerData } = call
  const id = turn.conversation.callIds.claim(shownId(call))
  const item = { type: 'call', id, tool, args, wire, executedBy: 'runner' } as const
  return {
    id,
    request: { tool, args, checksum, ...(rawArgs !== undefined && { rawArgs }) },
    item: { ...item, ...(providerData && { providerData }) },
    createdAt: call.createdAt.toMillis(),
    ...(call.editOf !== undefined && { editOf: call.editOf }),
    ...(call.redacted !== undefined && { redacted: call.redacted }),
  }
}
