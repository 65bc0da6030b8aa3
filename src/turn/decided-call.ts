import { checksum } from '../core/checksum.ts'
import { isBobbinError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { sameJson } from '../core/same-json.ts'
import type { Settlement } from '../records/tool-call.ts'
import type { Intent, NewEntry } from '../store/entry.ts'
import type { Gate } from '../store/gate.ts'
import { LastingEntry } from '../store/lasting-entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import { toolShortcuts } from '../tools/tool-class.ts'
import type { AskedCall } from './asked-call.ts'
import { effectiveArguments } from './effective-arguments.ts'
import { closeGate, denialText, gateDigest } from './gates.ts'
import { intentEntry, intentOf } from './intent.ts'
import { runAdmitted } from './run-call.ts'
import { announce, recordCall, settle, settleLogged } from './settle-call.ts'
import type { Turn } from './turn.ts'

/** Ends a call that does not run. */
export async function endCall(
  turn: Turn,
  asked: AskedCall,
  settlement: Settlement,
  text: string,
  extra: readonly NewEntry[] = [],
): Promise<void> {
  const results = new Tokenizable(text)
  await settle(turn, recordCall(turn, asked, { settlement, results }), extra)
}

const STALE =
  'Refused: the tool was removed, or its definition or arguments changed, after this call was approved. It was not run.'
const UNFIT = 'Refused: the approved arguments do not fit the tool. It was not run.'
const NOT_STORED =
  'Refused: the arguments of this call were not stored, so that it could not wait for a decision. It was not run.'
const TOO_LATE = 'Refused: the decision on this call no longer held when it was to be used.'

/** What admission found when the gate was opened in this same process. */
export interface ValidatedCall {
  readonly value: unknown
  /** Told to the model beside the result. */
  readonly note?: string | undefined
}

interface ReadyCall {
  readonly tool: Tool
  readonly value: unknown
  /** There when a person changed them. */
  readonly edited?: JsonObject
}

/**
 * Uses a decision once: the gate is closed and the intent made durable in one step, then the call runs.
 * What was validated when the gate was opened, in this same process, is not validated again.
 */
export async function useDecision(
  turn: Turn,
  asked: AskedCall,
  gate: Gate,
  validated?: ValidatedCall,
): Promise<void> {
  const closing = closeGate(turn, gate, 'consumed')
  if (gate.decision?.verdict === 'denied') {
    return endCall(turn, asked, 'denied', denialText(gate), [closing])
  }
  const ready = await readyCall(turn, asked, gate, validated)
  if (typeof ready === 'string') return endCall(turn, asked, 'refused', ready, [closing])
  const { tool, value, edited } = ready
  const call = edited === undefined ? asked : withArguments(turn, asked, edited)
  const intent: Intent = {
    ...intentOf(turn, call, tool),
    gateId: gate.id,
    ...(edited !== undefined && { editOf: asked.id }),
  }
  const started: NewEntry[] = [closing, intentEntry(turn.id, intent)]
  if (!(await isAccepted(turn, asked, call, started))) {
    return endCall(turn, asked, 'refused', TOO_LATE, [closeGate(turn, gate, 'expired')])
  }
  // What a person changed is no longer the call that the note is about.
  const note = edited === undefined ? validated?.note : undefined
  await runAdmitted(turn, { asked: call, tool, value, intent, note })
}

/** Makes the decision's use durable; false when the decision ran out at the last moment. */
async function isAccepted(
  turn: Turn,
  asked: AskedCall,
  call: AskedCall,
  started: readonly NewEntry[],
): Promise<boolean> {
  const isEdited = call !== asked
  const text = `A person changed the arguments; the call ran as \`${call.id}\`.`
  const original = isEdited
    ? recordCall(turn, asked, { settlement: 'denied', results: new Tokenizable(text) })
    : undefined
  const record = original === undefined ? [] : [LastingEntry.settlement(turn.id, original)]
  try {
    await turn.conversation.append([...started, ...record])
  } catch (error) {
    if (!isBobbinError(error, 'E_GATE_STATE')) throw error
    return false
  }
  if (original !== undefined) {
    await settleLogged(turn, original)
    announce(turn, { ...call.request, id: call.id, createdAt: call.createdAt })
  }
  return true
}

/** The call as it was approved, or why it does not run. */
async function readyCall(
  turn: Turn,
  asked: AskedCall,
  gate: Gate,
  validated: ValidatedCall | undefined,
): Promise<ReadyCall | string> {
  const tool = turn.ctx.tools.get(asked.request.tool)
  const { args = {}, context, decision, digest } = gate
  if (asked.redacted !== undefined) return NOT_STORED
  const isBound = context?.['checksum'] === asked.request.checksum
  if (tool === undefined || !isBound || gateDigest(tool, args) !== digest) return STALE
  if (decision?.verdict === 'edited') {
    const edited = decision.args ?? {}
    const validation = await toolShortcuts().validate(tool, edited)
    return validation.ok ? { tool, value: validation.value, edited } : UNFIT
  }
  const input = validated ?? (await approvedInput(tool, asked.request.args, args))
  return input === undefined ? STALE : { tool, value: input.value }
}

/**
 * What the handler gets for arguments that were approved as `approved`. What validation makes anew each
 * time, such as a random default, runs as it was approved; nothing when it does not come out so any more.
 */
export async function approvedInput(
  tool: Tool,
  asked: JsonObject,
  approved: JsonObject,
): Promise<{ readonly value: unknown } | undefined> {
  for (const input of [asked, approved]) {
    const validation = await toolShortcuts().validate(tool, input)
    if (validation.ok && sameJson(effectiveArguments(input, validation.value), approved)) {
      return { value: validation.value }
    }
  }
  return undefined
}

/** What a person made of a call: a record of its own, beside the original. */
function withArguments(turn: Turn, asked: AskedCall, args: JsonObject): AskedCall {
  const { tool } = asked.request
  const id = turn.conversation.callIds.claim(asked.id)
  return { ...asked, id, editOf: asked.id, request: { tool, args, checksum: checksum(tool, args) } }
}
