import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { canonicalStringify } from '../../core/json/canonical.ts'
import { lowerTrust, type TrustTier } from '../../core/trust.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import type { SpoolInput } from '../../spool/spool-store.ts'
import { holdErrors } from '../../spool/unread-stream.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import { ArtifactTool } from '../../tools/artifact-tool.ts'
import type { ToolCallTrace } from '../events/telemetry.ts'
import { handedOver } from '../executor/hand-over.ts'
import { errorText } from '../limits/failure.ts'
import { shownId } from '../log/call-state.ts'
import { callNote, type Fact } from '../log/fact.ts'
import { Attempt, IN_DOUBT, NOT_STARTED } from './attempt.ts'
import type { CallScope } from './call-scope.ts'
import { Report } from './external-call.ts'
import { questionGate } from './gate-policy.ts'
import type { InnerTurn } from './inner-turn.ts'
import { type CallSubject, layersOf, wrap } from './middleware.ts'
import { cleanResults } from './output.ts'
import { type CallEnd, changedArguments, maxTrust, recordOf, settlementOf } from './record.ts'
import { cleanError } from './secret-scrubber.ts'
import type { RunStep } from './step.ts'

/** One attempt at a call, or the report about an external call. */
interface Trial extends Pick<Attempt, 'question' | 'hasStarted' | 'run'> {
  readonly inner: InnerTurn | undefined
}

/** Runs a call inside its middleware and settles it, whatever happens. The facts of its step are durable already. */
export async function runCall(scope: CallScope, step: RunStep): Promise<void> {
  const trace = traceOf(scope, step)
  if (trace === undefined) return runAndSettle(scope, step)
  try {
    await runAndSettle(scope, step, trace)
  } catch (error) {
    trace.failed(error)
    throw error
  }
}

/** The trace of a call that runs here. */
function traceOf({ trace, output }: CallScope, step: RunStep): ToolCallTrace | undefined {
  if (trace === undefined || step.given) return undefined
  const { item, checksum } = step.call
  const { name: tool, description } = step.tool
  return trace.toolCall({ id: item.id, tool, description, checksum, args: item.args }, output.json)
}

async function runAndSettle(scope: CallScope, step: RunStep, trace?: ToolCallTrace): Promise<void> {
  const attempt: Trial = step.given
    ? new Report(scope, step, step.given)
    : new Attempt(scope, step, trace?.place)
  const run = () => throughLayers(scope, step, attempt)
  const made = await (trace ? trace.within(run) : run())
  const { inner } = attempt
  const intent: readonly Fact[] = step.isIntentLate ? [{ kind: 'intent', intent: step.intent }] : []
  const { question } = attempt
  const gates = question ? [questionGate(scope, step, question)] : (inner?.gates ?? [])
  // A call that asks a person, or whose inner turn does, stays open, unless it timed out or was aborted.
  if (gates.length > 0 && made.settlement === 'failed') {
    const { item, inputId } = step.call
    const of = { toolCallId: item.id, ...(inputId !== undefined && { inputId }) }
    const opened = gates.map((gate): Fact => ({ kind: 'gate-opened', gate: { ...gate, ...of } }))
    trace?.waits()
    return scope.log.commit([...intent, ...opened])
  }
  const isProven = step.mayHaveRun !== true || attempt.hasStarted || made.settlement === 'ok'
  // Aborted before its second attempt, the call is as unknown as before; the next recovery handles it.
  if (!isProven) scope.interruption.signal.throwIfAborted()
  const record = isProven ? made : recordOf(scope, step.call, endOf(step, IN_DOUBT))
  trace?.settled(record)
  const note = step.note === undefined ? [] : [callNote(shownId(record), step.note)]
  const closing = step.given ? [step.given.closing] : []
  const told = handedOver(step.tool, record)
  await scope.log.commit([...closing, ...settlementOf(record), ...told, ...intent, ...note])
  // After the record: without one, another runner may still continue the inner turn.
  await (inner ?? step.left)?.leave()
}

/** The record as the layers return it. A layer that fails never leaves a call without a record. */
async function throughLayers(scope: CallScope, step: RunStep, attempt: Trial): Promise<ToolCall> {
  const layers = layersOf(scope.settings.middleware, 'call')
  if (layers.length === 0) return attempted(scope, step, attempt)
  const { item, checksum } = step.call
  const { signal } = scope.interruption
  let own: ToolCall | undefined
  const record: CallSubject['record'] = (end) => {
    const clean = cleanResults(end, scope.output)
    // A layer may copy parts of the result into its own record, so the trust stays as low.
    const trust = own?.trust ?? attempt.inner?.trust
    return recordOf(scope, step.call, endOf(step, { ...end, ...clean }, trust))
  }
  const subject: CallSubject = {
    id: item.id,
    tool: step.tool.name,
    args: item.args,
    checksum,
    ctx: scope.ctx,
    spool: spoolOn(scope),
    record,
  }
  let inside: Promise<ToolCall> | undefined
  const core = () => (inside = (async () => (own = await attempted(scope, step, attempt)))())
  try {
    const given = await wrap(layers, subject, core, signal)
    return sameCall(given, await inside, step)
  } catch (error) {
    if (inside === undefined && signal.aborted)
      return recordOf(scope, step.call, endOf(step, NOT_STARTED))
    scope.events.error(cleanError(error, scope.output.text), 'middleware', item.id)
    const text = `The call was refused: ${errorText(error, scope.output.text)} It was not run.`
    // If the call is running when a layer fails, the call's own record counts.
    return inside ?? record({ settlement: 'refused', results: new Tokenizable(text) })
  }
}

/** A call that ran settles, even if its result cannot be recorded. */
async function attempted(scope: CallScope, step: RunStep, attempt: Trial): Promise<ToolCall> {
  const end = await attempt.run()
  const trust = attempt.inner?.trust
  try {
    return recordOf(scope, step.call, endOf(step, end, trust))
  } catch (error) {
    scope.events.error(error, 'record', step.call.item.id)
    const text = `The call ran, and its result cannot be stored: ${errorText(error, scope.output.text)}`
    const results = new Tokenizable(text)
    // The arguments may be what cannot be stored.
    const { tool } = step
    return recordOf(scope, step.call, {
      settlement: 'failed',
      results,
      trust,
      tool,
      ...byOthers(step),
    })
  }
}

const endOf = (
  step: RunStep,
  { settlement, results, media, inline }: Omit<CallEnd, 'trust'>,
  trust?: TrustTier,
): CallEnd => ({
  settlement,
  results,
  media,
  inline,
  trust,
  tool: step.tool,
  effectiveArgs: changedArguments(step.call.item.args, step.value),
  ...byOthers(step),
})

/** The fields of an external call's record. */
const byOthers = ({ given, intent: { approvedBy } }: RunStep): Partial<CallEnd> =>
  given ? { executedBy: 'external', supersedes: given.supersedes, approvedBy } : {}

/** Middleware may change how a record is shown and lower its trust, never which call it is nor what kind of tool ran. */
function sameCall(given: ToolCall, own: ToolCall | undefined, step: RunStep): ToolCall {
  const { call, tool, intent } = step
  const { id } = call.item
  if (!ToolCall.isToolCall(given) || given.id !== id || given.checksum !== call.checksum) {
    throw new Error(`Middleware gave back another call than \`${id}\`: keep id, tool and args.`)
  }
  if (given.fromArtifactTool !== ArtifactTool.isArtifactTool(tool)) {
    throw new Error(`Middleware changed \`fromArtifactTool\` of \`${id}\`: it follows the tool.`)
  }
  if (approval(given.approvedBy) !== approval(intent.approvedBy)) {
    throw new Error(
      `Middleware changed \`approvedBy\` of \`${id}\`: it says what allowed the call.`,
    )
  }
  const most = own?.trust ?? maxTrust(given.settlement, tool)
  if (lowerTrust(most, given.trust) !== given.trust) {
    throw new Error(`Middleware raised the trust of \`${id}\`: it can only go down.`)
  }
  return given
}

const approval = (by: ToolCall['approvedBy']): string => canonicalStringify({ ...by })

function spoolOn({ output }: CallScope): CallSubject['spool'] {
  const wind = async (data: SpoolInput, Class: SpooledArtifactConstructor = SpooledArtifact) => {
    holdErrors(data)
    return new Class(await output.write(data))
  }
  return wind as CallSubject['spool']
}
