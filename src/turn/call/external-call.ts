import type { Intent } from '../../store/entry.ts'
import type { GateRequest } from '../../store/gate.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { ToolOutput } from '../../tools/tool-context.ts'
import { errorText, faultOf } from '../limits/failure.ts'
import type { AskedCall } from '../log/call-state.ts'
import { callNote, type Fact } from '../log/fact.ts'
import type { CallScope } from './call-scope.ts'
import { gateDigest } from './gate-policy.ts'
import { outputOf } from './output.ts'
import { type CallEnd, effectiveArguments } from './record.ts'
import type { GivenResult, ReadyCall, RestStep, RunStep } from './step.ts'

/** Starts an external call: one commit stores its intent and opens the gate that asks for its result. */
export function externalStep(
  scope: CallScope,
  call: AskedCall,
  ready: ReadyCall,
  intent: Intent,
  before: readonly Fact[] = [],
): RestStep {
  const gate = resultGate(scope, call, ready, intent)
  const note = ready.note === undefined ? [] : [callNote(call.editOf ?? call.item.id, ready.note)]
  const facts: readonly Fact[] = [
    { kind: 'intent', intent },
    { kind: 'gate-opened', gate },
  ]
  return { do: 'rest', facts: [...before, ...facts, ...note] }
}

function resultGate(
  { settings }: CallScope,
  { item, inputId }: AskedCall,
  { tool, value }: ReadyCall,
  { idempotencyKey }: Intent,
): GateRequest {
  const args = effectiveArguments(item.args, value)
  const { timeoutMs } = tool
  return {
    id: settings.ids(),
    kind: 'result',
    from: 'runner',
    toolCallId: item.id,
    ...(inputId !== undefined && { inputId }),
    tool: tool.name,
    args,
    idempotencyKey,
    digest: gateDigest(tool, args),
    ...(timeoutMs !== undefined && { expiresAt: settings.clock.now() + timeoutMs }),
  }
}

/** The report about an external call, as an attempt at it. It is processed like a handler's output. */
export class Report {
  readonly inner = undefined
  readonly question = undefined
  hasStarted = false
  readonly #scope: CallScope
  readonly #step: RunStep
  readonly #given: GivenResult

  constructor(scope: CallScope, step: RunStep, given: GivenResult) {
    this.#scope = scope
    this.#step = step
    this.#given = given
  }

  async run(): Promise<CallEnd> {
    const { interruption, output, events, settings } = this.#scope
    const { tool, call } = this.#step
    const { reported } = this.#given
    // An aborted turn leaves the report where it is: the next one uses it.
    interruption.signal.throwIfAborted()
    this.hasStarted = true
    if ('error' in reported) return failedEnd(`The call failed: ${output.text(reported.error)}`)
    const limit = interruption.limit(settings.timeoutMs)
    try {
      const storing = outputOf(tool, reported.output as ToolOutput, output, limit)
      const late = limit.over.then((reason) => Promise.reject(reason))
      return { settlement: 'ok', ...(await Promise.race([late, storing])) }
    } catch (error) {
      interruption.signal.throwIfAborted()
      if (faultOf(error) === 'store') throw error
      events.error(error, 'output', call.item.id)
      const text = errorText(error, output.text)
      return failedEnd(`The call ran, and its result cannot be stored: ${text}`)
    } finally {
      limit.clear()
    }
  }
}

const failedEnd = (text: string): CallEnd => ({
  settlement: 'failed',
  results: new Tokenizable(text),
})
