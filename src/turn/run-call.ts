import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { canonicalStringify } from '../core/canonical.ts'
import type { JsonObject } from '../core/json.ts'
import { normalizeArguments } from '../core/strict-json.ts'
import type { ToolCall } from '../records/tool-call.ts'
import type { Intent, NewEntry } from '../store/entry.ts'
import type { Tool } from '../tools/tool.ts'
import type { ExecutionContext } from '../tools/tool-context.ts'
import type { Admission } from './admission.ts'
import type { AskedCall } from './ask-calls.ts'
import { type AttemptEnd, attempt } from './call-attempt.ts'
import { type CallSubject, wrap } from './middleware.ts'
import { recordCall, settle } from './settle-call.ts'
import { settleOutput } from './settle-output.ts'
import type { Turn } from './turn.ts'

type Admitted = Pick<Extract<Admission, { verdict: 'run' }>, 'tool' | 'value' | 'hint'>

/** Runs a call that may run, inside its middleware, and settles it whatever happens. */
export async function runAdmitted(
  turn: Turn,
  asked: AskedCall,
  admitted: Admitted,
  intent: Intent,
  origin: { readonly editOf?: string } = {},
): Promise<void> {
  const { tool } = admitted
  const layers = turn.settings.middleware.flatMap((each) =>
    each.call ? [each.call.bind(each)] : [],
  )
  const subject: CallSubject = {
    id: asked.id,
    tool: tool.name,
    checksum: asked.request.checksum,
    ctx: turn.ctx,
  }
  const call = await wrap(layers, subject, async () => {
    const end = await attemptCall(turn, asked, admitted, intent)
    return recordCall(turn, asked, {
      ...end,
      ...origin,
      tool,
      ...effectiveArgs(asked, admitted.value),
    })
  })
  // The intent of a `read` tool is made durable here: running it twice harms nobody.
  const extra: NewEntry[] =
    tool.effect === 'read' ? [{ kind: 'intent', turnId: turn.id, data: intent }] : []
  await settle(turn, sameCall(call, asked), extra)
}

function attemptCall(
  turn: Turn,
  asked: AskedCall,
  { tool, value }: Admitted,
  intent: Intent,
): Promise<AttemptEnd> {
  const { settings, signal, results } = turn
  return attempt({
    tool,
    value,
    args: asked.request.args,
    signal,
    timeoutMs: tool.timeoutMs ?? settings.timeoutMs,
    clock: settings.clock,
    context: executionContext(turn, asked, tool, intent),
    settleOutput: (output, abort) => settleOutput(tool, output, results, abort),
    onLate: () => reportLate(turn, asked, tool),
  })
}

function executionContext(
  turn: Turn,
  asked: AskedCall,
  tool: Tool,
  intent: Intent,
): ExecutionContext {
  const { settings, results, observed, origin } = turn
  return {
    toolCallId: asked.id,
    idempotencyKey: intent.idempotencyKey,
    emit: (event) =>
      event.type === 'toolExecutionStart'
        ? observed.emit('toolExecutionStart', event, origin)
        : observed.emit('toolExecutionEnd', event, origin),
    progress: (update) =>
      observed.emit('toolProgress', { toolCallId: asked.id, tool: tool.name, update }, origin),
    ...(settings.secrets && { secret: settings.secrets }),
    spool: async (data, Class = SpooledArtifact) => new Class(await results.write(data)),
  }
}

function reportLate(turn: Turn, asked: AskedCall, tool: Tool): void {
  const message = `\`${tool.name}\` ended after its call was given up; what it returned was discarded. Pass \`ctx.signal\` on so that it can stop in time.`
  turn.observed.emit('warning', { code: 'LATE_RESULT', message, toolCallId: asked.id }, turn.origin)
}

/** Defaults and coercions are kept when they changed something that JSON can say. */
function effectiveArgs(asked: AskedCall, value: unknown): { effectiveArgs?: JsonObject } {
  if (value === asked.request.args || typeof value !== 'object' || value === null) return {}
  try {
    const args = normalizeArguments(value)
    return canonicalStringify(args) === canonicalStringify(asked.request.args)
      ? {}
      : { effectiveArgs: args }
  } catch {
    return {}
  }
}

/** Middleware may change how a record is shown and how far it is trusted, never which call it is. */
function sameCall(call: ToolCall, asked: AskedCall): ToolCall {
  if (call.id === asked.id && call.checksum === asked.request.checksum) return call
  throw new Error(`Middleware gave back another call than \`${asked.id}\`: keep id, tool and args.`)
}
