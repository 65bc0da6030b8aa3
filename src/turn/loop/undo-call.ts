import { checksum } from '../../core/checksum.ts'
import { isBobbinError } from '../../core/error/error.ts'
import { intentOf } from '../call/admit.ts'
import { gateRequest } from '../call/gate-policy.ts'
import type { NextStep } from '../call/step.ts'
import { requireUndo } from '../gates/undo-tool.ts'
import { type DispatchEnd, failed, failure, SUSPENDED } from '../limits/outcome.ts'
import type { AskedCall } from '../log/call-state.ts'
import { type Fact, OWN_WIRE } from '../log/fact.ts'
import { effectsSince } from '../recovery/effects-since.ts'
import { lastMessage } from './rewind-turn.ts'
import { perform } from './run-response.ts'
import type { TurnPlan } from './run-turn.ts'
import type { Turn } from './turn.ts'

/** Which call to undo, and who asked for it. */
export interface UndoRequest {
  readonly toolCallId: string
  readonly decidedBy: string
}

/** The plan of a turn that undoes one call and asks no model. A call that cannot be undone goes to `refuse`. */
export const undoPlan = (request: UndoRequest, refuse: (error: unknown) => void): TurnPlan => ({
  way: 'undo',
  instead: (turn) => orRefused(undoCall(turn, request), refuse),
})

async function orRefused(
  undoing: Promise<DispatchEnd>,
  refuse: (error: unknown) => void,
): Promise<DispatchEnd> {
  try {
    return await undoing
  } catch (error) {
    if (!isBobbinError(error, 'E_CANNOT_UNDO')) throw error
    refuse(error)
    return failed(failure('EXECUTOR_FAILED', error))
  }
}

/** Undoes one call: the undo is a call of its own, with a gate, an intent and a record like any other. */
async function undoCall(turn: Turn, { toolCallId, decidedBy }: UndoRequest): Promise<DispatchEnd> {
  const { settings, log, tools, restore, interruption } = turn
  const { state, id: conversation } = log
  const source = { store: settings.store, tools, restore }
  const tool = await requireUndo(source, conversation, toolCallId)
  const id = state.ids.claim(`undo:${toolCallId}`)
  const args = { toolCallId }
  const item = {
    type: 'call',
    id,
    tool: tool.name,
    args,
    wire: OWN_WIRE,
    executedBy: 'runner',
  } as const
  const call: AskedCall = {
    item: { ...item, undoes: toolCallId, decidedBy },
    checksum: checksum(tool.name, args),
    askedAt: settings.clock.now(),
  }
  const { context, turnId } = turn.ctx
  const place = { context, conversation, turnId, toolCallId: id }
  const needsApproval = await interruption.watch.orAborted(tool.needsApproval(args, place))
  const step = needsApproval ? waitStep(turn, call, tool) : runStep(turn, call, tool)
  await perform(turn, { ...step, facts: [{ kind: 'call', call }, ...step.facts] })
  if (interruption.signal.aborted) return interruption.end()
  return state.open.has(id) ? SUSPENDED : { status: 'completed', text: '' }
}

type UndoTool = Awaited<ReturnType<typeof requireUndo>>

function waitStep(turn: Turn, call: AskedCall, tool: UndoTool): NextStep {
  const value = call.item.args
  const gate = gateRequest(turn, call, tool, value, 'tool', 'developer')
  return { do: 'wait', call, gate, ready: { tool, value }, facts: [{ kind: 'gate-opened', gate }] }
}

function runStep(turn: Turn, call: AskedCall, tool: UndoTool): NextStep {
  const intent = intentOf(turn, call, tool, 'developer')
  const facts: readonly Fact[] = [{ kind: 'intent', intent }]
  return { do: 'run', call, tool, value: call.item.args, intent, facts }
}

/** Who asks for what `regenerate` undoes. */
const DECIDED_BY = 'regenerate'

/**
 * The plan of a turn that undoes, newest first, what taking back the last message would skip. If one call cannot be undone,
 * none is, and the reason goes to `refuse`. It ends at the first undo that waits for an approval.
 */
export const undoSkippedPlan = (refuse: (error: unknown) => void): TurnPlan => ({
  way: 'undo',
  instead: (turn) => orRefused(undoSkipped(turn), refuse),
})

async function undoSkipped(turn: Turn): Promise<DispatchEnd> {
  const { settings, log, tools, restore } = turn
  const { seq } = await lastMessage(turn)
  const effects = await effectsSince(settings.store, log.id, seq)
  const source = { store: settings.store, tools, restore }
  for (const { id } of effects) await requireUndo(source, log.id, id)
  for (const { id } of effects.toReversed()) {
    const end = await undoCall(turn, { toolCallId: id, decidedBy: DECIDED_BY })
    if (end.status !== 'completed') return end
  }
  return { status: 'completed', text: '' }
}
