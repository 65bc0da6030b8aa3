import type { ToolCall } from '../../records/tool-call.ts'
import { IMPORTED_KEY } from '../../store/entry.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolOutput } from '../../tools/tool-context.ts'
import type { Reconciliation } from '../../tools/tool-options.ts'
import type { CallScope } from '../call/call-scope.ts'
import { outputOf } from '../call/output.ts'
import { type CallEnd, recordOf } from '../call/record.ts'
import { cleanError } from '../call/secret-scrubber.ts'
import { supersedingCall } from '../call/superseding-call.ts'
import { askStore, errorText, faultOf } from '../limits/failure.ts'

/** Asks the tool whether the call happened; undefined when it fails, or does not answer within the time of a call. */
export async function reconcile(
  { interruption, settings, events, output }: CallScope,
  tool: Tool,
  key: string,
): Promise<Reconciliation | undefined> {
  if (tool.reconcile === undefined) return undefined
  const ms = tool.timeoutMs ?? settings.timeoutMs
  interruption.signal.throwIfAborted()
  const limit = interruption.limit(ms)
  const asking = (async () => tool.reconcile?.(key))()
  try {
    const late = limit.over.then(() => {
      throw new Error(`no answer within ${ms} ms`)
    })
    return await Promise.race([late, asking])
  } catch (error) {
    interruption.signal.throwIfAborted()
    events.error(cleanError(error, output.text), 'reconcile')
    return undefined
  } finally {
    limit.clear()
  }
}

/** The end of a call that is known to have happened; failed when its output cannot be stored. */
export async function happenedEnd(
  scope: CallScope,
  tool: Tool,
  output: ToolOutput,
): Promise<CallEnd> {
  const { interruption, output: spool } = scope
  try {
    const keeping = outputOf(tool, output, spool, interruption)
    return { settlement: 'ok', ...(await interruption.watch.orAborted(keeping)), tool }
  } catch (error) {
    // Nothing is lost: the next recovery asks the tool again.
    interruption.signal.throwIfAborted()
    if (faultOf(error) === 'store') throw error
    const text = `The call took effect, and its result cannot be stored: ${errorText(error, spool.text)}`
    return { settlement: 'failed', results: new Tokenizable(text), tool }
  }
}

export const NOT_HAPPENED = 'It is now known that this call took no effect. It was not run again.'

/**
 * Asks the tools again about every call that an earlier turn settled as in doubt. The answer becomes a new record beside the
 * old one. The call is never run again: the model may already have acted on the doubt.
 */
export async function settleDoubts(scope: CallScope, doubts: readonly ToolCall[]): Promise<void> {
  for (const doubt of doubts) {
    const tool = scope.toolOf(doubt.tool)
    if (tool?.reconcile === undefined) continue
    const intent = await askStore(() => scope.settings.store.get(scope.log.id, 'intent', doubt.id))
    const key = intent?.data.idempotencyKey ?? IMPORTED_KEY
    const found = key === IMPORTED_KEY ? undefined : await reconcile(scope, tool, key)
    if (found === undefined || found.happened === 'unknown') continue
    const end: CallEnd =
      found.happened === 'yes'
        ? await happenedEnd(scope, tool, found.output)
        : { settlement: 'aborted', results: new Tokenizable(NOT_HAPPENED), tool }
    const call = supersedingCall(scope, doubt)
    const { approvedBy } = doubt
    const record = recordOf(scope, call, { ...end, approvedBy, supersedes: doubt.id })
    await scope.log.commit([{ kind: 'settlement', record }])
  }
}
