import type { JsonObject } from '../core/json.ts'
import type { NewEntry } from '../store/entry.ts'
import type { Gate, GateRequest, NewGateDecision } from '../store/gate.ts'
import type { AdmittedCall } from './admitted-call.ts'
import { closeGate, openGate, tellOpened } from './gates.ts'
import { intentOf } from './intent.ts'
import type { RunnerSettings } from './runner-options.ts'
import { ofStore } from './store-failure.ts'
import type { Turn } from './turn.ts'

/** Where the gate of a nested turn really is. */
interface NestedPlace {
  readonly conversation: string
  readonly gate: string
}

/**
 * Shows the gates that a nested turn waits for as gates of this conversation; their call stays open. With them goes
 * what the log has yet to be told of it.
 */
export async function surfaceGates(
  turn: Turn,
  admitted: AdmittedCall,
  gates: readonly Gate[],
  extra: readonly NewEntry[],
): Promise<void> {
  const { asked } = admitted
  const requests = gates.map((gate): GateRequest => {
    const { type, because, tool, args, digest, expiresAt, conversation, id } = gate
    const context: JsonObject = {
      ...(gate.context?.['url'] !== undefined && { url: gate.context['url'] }),
      conversation,
      gate: id,
    }
    return {
      id: turn.settings.ids(),
      type,
      ...(because !== undefined && { because }),
      callId: asked.id,
      ...(tool !== undefined && { tool }),
      ...(args !== undefined && { args }),
      digest,
      expiresAt,
      context,
    }
  })
  const { id, item, createdAt: askedAt } = asked
  // The call that a person made of another stands in no response, and the turn waits for it all the same. It has
  // begun: whoever looks for what nobody waits for must not take its inner turn for that.
  const intent = admitted.intent ?? intentOf(turn, asked, admitted.tool)
  turn.conversation.unsettled.set(id, { item, turnId: turn.id, askedAt, intent })
  await turn.conversation.append([...extra, ...requests.map((gate) => openGate(turn, gate))])
  await tellOpened(turn, requests)
}

/** The gates of nested turns that hold up this call. */
export function nestedGates(turn: Turn, callId: string): readonly Gate[] {
  return turn.conversation.gates.filter((gate) => gate.callId === callId && nestedPlace(gate))
}

/** Whether one of them waits for a decision: one that is found decided where it really is does not, whatever its copy says. */
export async function isHeldUp(
  gates: readonly Gate[],
  { store }: RunnerSettings,
): Promise<boolean> {
  for (const gate of gates) {
    if (gate.state !== 'pending') continue
    const place = nestedPlace(gate)
    const there = place && (await ofStore(() => store.gate(place.conversation, place.gate)))
    if ((there?.state ?? 'pending') === 'pending') return true
  }
  return false
}

/** Passes decisions on to the turn that waits for them, in its own store, and closes their copies here. */
export async function passOn(
  turn: Turn,
  gates: readonly Gate[],
  { store }: RunnerSettings,
): Promise<void> {
  for (const gate of gates) {
    const place = nestedPlace(gate)
    const there = place && (await ofStore(() => store.gate(place.conversation, place.gate)))
    // Decided already when a process died between this step and the next.
    if (place !== undefined && there?.state === 'pending') {
      const decision = decisionFrom(gate)
      await ofStore(() => store.decideGate(place.conversation, place.gate, decision))
    }
    const outcome = isDecided(gate)
      ? 'consumed'
      : gate.state === 'expired'
        ? 'expired'
        : 'abandoned'
    await turn.conversation.append([closeGate(turn, gate, outcome)])
  }
}

/** Whether somebody decided, and in time. */
export const isDecided = ({ decision, state }: Gate): boolean =>
  decision !== undefined && state !== 'expired'

/** What nobody decided is declined where it counts. */
function decisionFrom(gate: Gate): NewGateDecision {
  const { decision } = gate
  if (decision === undefined || !isDecided(gate)) {
    return { verdict: 'denied', decidedBy: 'nobody', comment: 'Nobody decided in time.' }
  }
  const { verdict, decidedBy, args, comment } = decision
  return { verdict, decidedBy, ...(args && { args }), ...(comment !== undefined && { comment }) }
}

function nestedPlace({ context }: Gate): NestedPlace | undefined {
  const { conversation, gate } = context ?? {}
  return typeof conversation === 'string' && typeof gate === 'string'
    ? { conversation, gate }
    : undefined
}
