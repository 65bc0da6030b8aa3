import { BobbinError } from '../core/error/error.ts'
import { randomId } from '../core/ids.ts'
import type { JsonValue } from '../core/json/json.ts'
import { AROUND, type ExecutionContext, type ToolContext } from './tool-context.ts'

/** The context of a handler. Every part is an own property, so that copies have it too. */
export function handlerContext(context: ExecutionContext, callId: string): ToolContext {
  const { toolCallId, input, trace } = context
  const around = context[AROUND]
  // Without a signal, nothing can abort the execution.
  const own = new AbortController()
  return {
    context: context.context,
    get signal() {
      return context.signal ?? own.signal
    },
    toolCallId,
    callId,
    idempotencyKey: context.idempotencyKey ?? toolCallId ?? randomId(),
    ...(input && { input }),
    ...(trace && { trace }),
    progress: (update: unknown) => context.progress?.(update as JsonValue),
    secret: async (name) =>
      context.secret === undefined ? missing('secret') : context.secret(name),
    spool: (async (data, Class) =>
      context.spool === undefined
        ? missing('spool')
        : context.spool(data, Class)) as ToolContext['spool'],
    ...(around && { [AROUND]: around }),
  }
}

function missing(capability: 'secret' | 'spool'): never {
  const runner = capability === 'secret' ? 'a TurnRunner that has `secrets`' : 'a TurnRunner'
  const message = `\`ctx.${capability}\` is not available here: run the tool through ${runner}, or pass \`${capability}\` to \`tool.executor\`.`
  throw new BobbinError('E_MISSING_CAPABILITY', message, { capability })
}
