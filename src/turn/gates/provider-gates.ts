import { checksum } from '../../core/checksum.ts'
import type { Gate } from '../../store/gate.ts'
import type { CallScope } from '../call/call-scope.ts'
import { closeGate, denialText } from '../call/gate-policy.ts'
import { endStep } from '../call/record.ts'
import { type NextStep, REST } from '../call/step.ts'
import type { AskedCall } from '../log/call-state.ts'
import type { ProviderCall } from '../log/log-state.ts'
import { NOT_STORED } from './use-decision.ts'

/**
 * The next step of a call for which a provider asked approval. The closed gate puts the decision into the history, and the
 * next request sends it to the provider.
 */
export function providerStep(scope: CallScope, gate: Gate, mayWait: boolean): NextStep {
  const { state } = scope.log
  const provided = state.providerCall(gate.toolCallId)
  if (provided === undefined) return REST
  const { item, redacted } = provided
  // The provider may have finished the call without waiting for the decision: its result counts.
  const isSettled = state.shown.has(item.id)
  if (gate.state === 'pending' && mayWait && !isSettled)
    return { do: 'wait', call: asked(provided), gate, facts: [] }
  const isExpired = gate.state === 'expired'
  const isDecided = gate.state !== 'pending' && !isExpired
  const closing = closeGate(gate, isDecided ? 'consumed' : isExpired ? 'expired' : 'abandoned')
  // An edit that an earlier version stored is not an approval of what the provider asked for.
  const isApproved = isDecided && gate.decision?.verdict === 'approved'
  // A request that was not stored as it came cannot go back to the provider, and neither can its approval.
  if (isApproved && redacted?.includes('/providerData') && !isSettled)
    return endStep(scope, asked(provided), 'refused', NOT_STORED, [closeGate(gate, 'abandoned')])
  if (isApproved || isSettled) return { ...REST, facts: [closing] }
  // The provider does not report the end of a declined call, so it is recorded here.
  const call = asked(provided)
  return isDecided
    ? endStep(scope, call, 'denied', denialText(gate), [closing])
    : endStep(scope, call, 'abandoned', 'Abandoned: this call was not decided in time.', [closing])
}

function asked({ item, askedAt, redacted }: ProviderCall): AskedCall {
  const { id, tool, args, wire, executedBy } = item
  const call = { type: 'call', id, tool, args, wire, executedBy } as const
  return { item: call, checksum: checksum(tool, args), askedAt, ...(redacted && { redacted }) }
}
