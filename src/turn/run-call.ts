import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { lowerTrust, type TrustTier } from '../core/trust.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { SpoolInput, SpoolStore } from '../spool/spool-store.ts'
import { holdErrors } from '../spool/unread-stream.ts'
import type { NewEntry } from '../store/entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { AdmittedCall } from './admitted-call.ts'
import type { AskedCall } from './asked-call.ts'
import { type AttemptEnd, NOT_STARTED } from './attempt-end.ts'
import { CallAttempt } from './call-attempt.ts'
import { changedArguments } from './effective-arguments.ts'
import { errorText } from './error-text.ts'
import { IN_DOUBT, tellDoubt } from './in-doubt.ts'
import { intentEntry, intentOf } from './intent.ts'
import { type CallSubject, layersOf, wrap } from './middleware.ts'
import { surfaceGates } from './nested-gates.ts'
import type { NestedLink } from './nested-turn.ts'
import { type CallEnd, mostTrust, recordCall, settle } from './settle-call.ts'
import type { Turn } from './turn.ts'

/**
 * Runs a call that may run, inside its middleware, and settles it whatever happens. Gives nothing to wait
 * for where it is settled at once.
 */
export function runAdmitted(turn: Turn, admitted: AdmittedCall): Promise<void> | undefined {
  const attempt = new CallAttempt(turn, admitted)
  const made =
    turn.settings.middleware.length === 0
      ? attemptRecord(turn, admitted, attempt)
      : throughLayers(turn, admitted, attempt)
  return made instanceof Promise
    ? made.then((call) => settleAttempt(turn, admitted, attempt, call))
    : settleAttempt(turn, admitted, attempt, made)
}

function settleAttempt(
  turn: Turn,
  admitted: AdmittedCall,
  { link, hasStarted }: CallAttempt,
  made: ToolCall,
): Promise<void> | undefined {
  const { asked, tool, intent } = admitted
  const extra: NewEntry[] =
    intent === undefined ? [intentEntry(turn.id, intentOf(turn, asked, tool))] : []
  if (link !== undefined && isWaiting(link, made)) {
    return surfaceGates(turn, admitted, link.gates, extra)
  }
  const isProven = admitted.mayHaveRun !== true || hasStarted || made.settlement === 'ok'
  // Aborted before the second attempt, it is as unknown as before: the next recovery sees to it.
  if (!isProven) turn.signal.throwIfAborted()
  const call = isProven ? made : recordOf(turn, admitted, IN_DOUBT, undefined)
  if (call.settlement === 'in-doubt') extra.push(tellDoubt(turn, call))
  const settling = settle(turn, call, extra, admitted.note)
  if (link === undefined && admitted.abandon === undefined) return settling
  const leave = () => leaveNested(link, admitted)
  return settling === undefined ? leave() : settling.then(leave)
}

/** Behind the record, not before it: as long as there is none, another runner may go on with the inner turn. */
function leaveNested(
  link: NestedLink | undefined,
  { abandon }: AdmittedCall,
): Promise<void> | undefined {
  if (link !== undefined) link.isSettled = true
  return (link?.abandon ?? abandon)?.()
}

/** A call whose inner turn waits for a decision stays open; one that was given up does not. */
const isWaiting = ({ gates }: NestedLink, { settlement }: ToolCall) =>
  gates.length > 0 && settlement === 'failed'

/** Makes the attempt and gives its record, at once where nothing has to be waited for. */
function attemptRecord(
  turn: Turn,
  admitted: AdmittedCall,
  attempt: CallAttempt,
): ToolCall | Promise<ToolCall> {
  const end = attempt.run()
  return end instanceof Promise
    ? end.then((late) => attemptedRecord(turn, admitted, late, attempt.link?.trust))
    : attemptedRecord(turn, admitted, end, attempt.link?.trust)
}

/** What was run is settled, also when it cannot be recorded as it ended. */
function attemptedRecord(
  turn: Turn,
  admitted: AdmittedCall,
  end: AttemptEnd,
  trust: TrustTier | undefined,
): ToolCall {
  try {
    return recordOf(turn, admitted, end, trust)
  } catch (error) {
    turn.observed.emit('error', { error, where: 'record' }, turn.origin)
    const { asked, tool } = admitted
    const text = `The call was run, and what came of it cannot be kept: ${errorText(error)}`
    const results = new Tokenizable(text)
    return recordCall(turn, asked, { settlement: 'failed', results, tool, trust })
  }
}

function recordOf(
  turn: Turn,
  { asked, tool, value }: AdmittedCall,
  end: Pick<CallEnd, 'settlement' | 'results' | 'inline'>,
  trust: TrustTier | undefined,
): ToolCall {
  return recordCall(turn, asked, {
    settlement: end.settlement,
    results: end.results,
    inline: end.inline,
    tool,
    effectiveArgs: changedArguments(asked.request.args, value),
    trust,
  })
}

/** The record as the layers give it; a layer that misbehaves never leaves a call without one. */
async function throughLayers(
  turn: Turn,
  admitted: AdmittedCall,
  attempt: CallAttempt,
): Promise<ToolCall> {
  const { asked, tool } = admitted
  const layers = layersOf(turn.settings.middleware, 'call')
  if (layers.length === 0) return attemptRecord(turn, admitted, attempt)
  let own: ToolCall | undefined
  // What a layer has seen of the result may be in what it says in its place.
  const record: CallSubject['record'] = (end) =>
    recordOf(turn, admitted, end, own?.trust ?? attempt.link?.trust)
  const subject: CallSubject = {
    id: asked.id,
    tool: tool.name,
    args: asked.request.args,
    checksum: asked.request.checksum,
    ctx: turn.ctx,
    spool: spoolOn(turn.results),
    record,
  }
  let inside: Promise<ToolCall> | undefined
  const core = () => (inside = (async () => (own = await attemptRecord(turn, admitted, attempt)))())
  try {
    const given = await wrap(layers, subject, core, turn.signal)
    return sameCall(given, await inside, asked, tool)
  } catch (error) {
    if (inside === undefined && turn.signal.aborted) return record(NOT_STARTED)
    turn.observed.emit('error', { error, where: 'middleware' }, turn.origin)
    const text = `The call was refused: ${errorText(error)} It was not run.`
    // A layer may have failed while the call runs: only the call knows how it ends.
    return inside ?? record({ settlement: 'refused', results: new Tokenizable(text) })
  }
}

/** Middleware may change how a record is shown and lower its trust, never which call it is. */
function sameCall(
  given: ToolCall,
  own: ToolCall | undefined,
  { id, request }: AskedCall,
  tool: Tool,
): ToolCall {
  if (!ToolCall.isToolCall(given) || given.id !== id || given.checksum !== request.checksum) {
    throw new Error(`Middleware gave back another call than \`${id}\`: keep id, tool and args.`)
  }
  const most = own?.trust ?? mostTrust(given.settlement, tool)
  if (lowerTrust(most, given.trust) !== given.trust) {
    throw new Error(`Middleware raised the trust of \`${id}\`: it can only go down.`)
  }
  return given
}

function spoolOn(spool: Pick<SpoolStore, 'write'>): CallSubject['spool'] {
  const wind = async (data: SpoolInput, Class: SpooledArtifactConstructor = SpooledArtifact) => {
    holdErrors(data)
    return new Class(await spool.write(data))
  }
  return wind as CallSubject['spool']
}
