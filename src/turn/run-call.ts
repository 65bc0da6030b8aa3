import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { lowerTrust } from '../core/trust.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import type { Intent, NewEntry } from '../store/entry.ts'
import { Tokenizable } from '../text/tokenizable.ts'
import type { Tool } from '../tools/tool.ts'
import type { ExecutionContext, ToolOutput } from '../tools/tool-context.ts'
import type { AskedCall } from './ask-calls.ts'
import { attempt, NOT_STARTED } from './call-attempt.ts'
import { changedArguments } from './effective-arguments.ts'
import { errorText } from './error-text.ts'
import { IN_DOUBT, tellDoubt } from './in-doubt.ts'
import { type CallSubject, layersOf, wrap } from './middleware.ts'
import { surfaceGates } from './nested-gates.ts'
import { linkCall, type NestedLink } from './nested-turn.ts'
import type { SecretScrubber } from './secret-scrubber.ts'
import { type CallEnd, mostTrust, recordCall, settle } from './settle-call.ts'
import { settleOutput } from './settle-output.ts'
import type { ResultSpool } from './small-results.ts'
import type { Turn } from './turn.ts'

/** A call that may run, with everything that running it takes. */
export interface AdmittedCall {
  readonly asked: AskedCall
  readonly tool: Tool
  /** What the handler gets. */
  readonly value: unknown
  readonly intent: Intent
  /** False when the intent is to be made durable with the settlement. */
  readonly isLogged: boolean
  /** True when an earlier attempt may have taken effect: it must not end as a call that was not run. */
  readonly mayHaveRun?: boolean
  /** Told to the model beside the result. */
  readonly note?: string
}

/** Runs a call that may run, inside its middleware, and settles it whatever happens. */
export async function runAdmitted(turn: Turn, admitted: AdmittedCall): Promise<void> {
  const { asked, tool, intent } = admitted
  const { link, onStart } = linkCall(turn)
  let hasStarted = false
  const { scrubber } = turn
  const spool = cleanSpool(turn)
  const record = (end: CallEnd) =>
    recordCall(turn, asked, {
      ...end,
      tool,
      ...(intent.editOf !== undefined && { editOf: intent.editOf }),
      ...changedArguments(asked.request.args, admitted.value),
    })
  const made = await throughLayers(turn, admitted, record, async () => {
    const end = await attempt({
      tool,
      value: admitted.value,
      args: asked.request.args,
      signal: turn.signal,
      timeoutMs: tool.timeoutMs ?? turn.settings.timeoutMs,
      clock: turn.settings.clock,
      context: executionContext(turn, admitted),
      settleOutput: (output, abort) =>
        settleOutput(tool, cleanText(output, scrubber), spool, abort),
      clean: scrubber.text,
      onStart: (signal) => {
        hasStarted = true
        onStart(signal)
      },
      onLate: (what) => reportLate(turn, admitted, what),
    })
    return record({ ...end, trust: link.trust })
  })
  if (isWaiting(link, made)) return surfaceGates(turn, asked, link.gates)
  const isProven = admitted.mayHaveRun !== true || hasStarted || made.settlement === 'ok'
  // Aborted before the second attempt, it is as unknown as before: the next recovery sees to it.
  if (!isProven) turn.signal.throwIfAborted()
  const call = isProven ? made : record(IN_DOUBT)
  const extra: NewEntry[] = admitted.isLogged
    ? []
    : [{ kind: 'intent', turnId: turn.id, data: intent }]
  if (call.settlement === 'in-doubt') extra.push(tellDoubt(turn, call))
  await settle(turn, call, extra, admitted.note)
}

/** A call whose inner turn waits for a decision stays open; one that was given up does not. */
const isWaiting = ({ gates }: NestedLink, { settlement }: ToolCall) =>
  gates.length > 0 && settlement === 'failed'

/** The record as the layers give it; a layer that misbehaves never leaves a call without one. */
async function throughLayers(
  turn: Turn,
  { asked, tool }: AdmittedCall,
  record: (end: CallEnd) => ToolCall,
  core: () => Promise<ToolCall>,
): Promise<ToolCall> {
  const layers = layersOf(turn.settings.middleware, 'call')
  if (layers.length === 0) return core()
  const subject: CallSubject = {
    id: asked.id,
    tool: tool.name,
    args: asked.request.args,
    checksum: asked.request.checksum,
    ctx: turn.ctx,
    spool: spoolOn(turn.results) as CallSubject['spool'],
    record,
  }
  let inside: Promise<ToolCall> | undefined
  try {
    const given = await wrap(layers, subject, () => (inside = core()), turn.signal)
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

/** The conversation's spool, without the secrets that the turn was given. */
const cleanSpool = ({ results, scrubber }: Turn): Pick<ResultSpool, 'write' | 'has'> => ({
  has: (digest) => results.has(digest),
  write: (data, options) => results.write(scrubber.data(data), options),
})

/** Text of artifact tools goes into the record without a spool. */
const cleanText = (output: ToolOutput, { text }: SecretScrubber) =>
  typeof output === 'string' ? text(output) : output

function executionContext(turn: Turn, { asked, tool, intent }: AdmittedCall): ExecutionContext {
  const { observed, origin, scrubber } = turn
  return {
    toolCallId: asked.id,
    idempotencyKey: intent.idempotencyKey,
    emit: (event) =>
      event.type === 'toolExecutionStart'
        ? observed.emit('toolExecutionStart', event, origin)
        : observed.emit('toolExecutionEnd', event, origin),
    progress: (given) => {
      const update = scrubber.json(given)
      observed.emit('toolProgress', { toolCallId: asked.id, tool: tool.name, update }, origin)
    },
    ...(scrubber.secret && { secret: scrubber.secret }),
    spool: spoolOn(cleanSpool(turn)),
  }
}

const spoolOn =
  (spool: Pick<SpoolStore, 'write'>): NonNullable<ExecutionContext['spool']> =>
  async (data, Class = SpooledArtifact) =>
    new Class(await spool.write(data))

function reportLate(turn: Turn, { asked, tool }: AdmittedCall, what: 'result' | 'error'): void {
  const came = what === 'result' ? 'what it returned was discarded' : 'it failed'
  const message = `\`${tool.name}\` ended after its call was given up; ${came}. Pass \`ctx.signal\` on so that it can stop in time.`
  turn.observed.emit('warning', { code: 'LATE_RESULT', message, toolCallId: asked.id }, turn.origin)
}
