import { BobbinError } from '../core/error.ts'
import { randomId } from '../core/ids.ts'
import type { JsonValue } from '../core/json.ts'
import type { SpooledArtifactConstructor } from '../spool/artifact.ts'
import type { SpoolInput } from '../spool/spool-store.ts'
import type { ExecutionContext, ToolContext } from './tool-context.ts'

const EXECUTION = Symbol('execution')
const OWN_SIGNAL = Symbol('signal')

/** The signal costs more than the rest of a call's context together: it is there when it is read. */
const SIGNAL = {
  get(this: HandlerContext): AbortSignal {
    // Without one, nothing can abort the execution.
    return this[EXECUTION].signal ?? (this[OWN_SIGNAL] ??= new AbortController().signal)
  },
  enumerable: true,
  configurable: true,
}

/** What a handler is given. Every part is its own property, so that copies have it too. */
export class HandlerContext implements ToolContext {
  readonly [EXECUTION]: ExecutionContext;
  [OWN_SIGNAL]: AbortSignal | undefined
  declare readonly signal: AbortSignal
  readonly toolCallId: string | undefined
  readonly callId: string
  readonly idempotencyKey: string
  readonly progress: ToolContext['progress']
  readonly secret: ToolContext['secret']
  readonly spool: ToolContext['spool']

  constructor(context: ExecutionContext, callId: string) {
    this[EXECUTION] = context
    this[OWN_SIGNAL] = undefined
    Object.defineProperty(this, 'signal', SIGNAL)
    this.toolCallId = context.toolCallId
    this.callId = callId
    this.idempotencyKey = context.idempotencyKey ?? context.toolCallId ?? randomId()
    // Named first: an engine puts a function that is written straight into a property among what lives
    // long, and with it all that it refers to, here the whole turn.
    const progress = (update: unknown) => context.progress?.(update as JsonValue)
    const secret = async (name: string) =>
      context.secret === undefined ? missing('secret') : context.secret(name)
    const spool = async (data: SpoolInput, Class?: SpooledArtifactConstructor) =>
      context.spool === undefined ? missing('spool') : context.spool(data, Class)
    this.progress = progress
    this.secret = secret
    this.spool = spool as ToolContext['spool']
  }
}

function missing(capability: 'secret' | 'spool'): never {
  const runner = capability === 'secret' ? 'a TurnRunner that has `secrets`' : 'a TurnRunner'
  const message = `\`ctx.${capability}\` is not available here: run the tool through ${runner}, or pass \`${capability}\` to \`tool.executor\`.`
  throw new BobbinError('E_MISSING_CAPABILITY', message, { capability })
}
