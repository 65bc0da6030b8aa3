import { SpooledArtifact } from '../../src/artifacts/spooled-artifact.ts'
import { ToolCall } from '../../src/records/tool-call.ts'
import { Tokenizable } from '../../src/text/tokenizable.ts'
import type { CallSubject, Middleware } from '../../src/turn/call/middleware.ts'
import type { Life } from './life.ts'
import type { Layer } from './program.ts'

type CallLayer = NonNullable<Middleware['call']>

const text = (said: string) => new Tokenizable(said)

const CALL_LAYERS: Partial<Record<Layer, CallLayer>> = {
  pass: (_, next) => next(),
  async redact(subject, next) {
    const { settlement } = await next()
    return subject.record({ settlement, results: text('[redacted]') })
  },
  async handle(subject, next) {
    const { settlement, results } = await next()
    return subject.record({ settlement, results, inline: Tokenizable.isTokenizable(results) })
  },
  async shortcut(subject) {
    const results = await subject.spool('known already', SpooledArtifact)
    return subject.record({ settlement: 'ok', results })
  },
  async 'throw before'() {
    throw new Error('not today')
  },
  async 'throw behind'(_, next) {
    await next()
    throw new Error('not today either')
  },
  async twice(_, next) {
    await next()
    return next()
  },
  async swallow(subject, next) {
    await next()
    const results = await subject.spool('never mind', SpooledArtifact)
    return subject.record({ settlement: 'ok', results })
  },
  foreign: async (subject) => strange(subject, { id: 'another' }),
  raise: async (subject) => strange(subject, { trust: 'developer' }),
  async 'no wait'(subject, next) {
    next().catch(() => {})
    return subject.record({ settlement: 'failed', results: text('impatient') })
  },
}

function strange({ id, tool, args }: CallSubject, other: object): ToolCall {
  const now = Date.now()
  return new ToolCall({
    id,
    tool,
    args,
    results: text('strange'),
    isComplete: true,
    isError: false,
    createdAt: now,
    completedAt: now,
    ...other,
  })
}

/** The middleware of a process; a layer around calls acts on those whose `n` is 1. */
export function middlewareOf(layers: readonly Layer[], life: Life): Middleware[] {
  return layers.map((name): Middleware => {
    const layer = CALL_LAYERS[name]
    if (layer !== undefined) {
      return {
        async call(subject, next) {
          await life.pause(1)
          const isMeant = subject.args['n'] === 1 || subject.args['task'] === '1'
          return isMeant ? layer(subject, next) : next()
        },
      }
    }
    return {
      async turn(ctx, next) {
        await life.pause(1)
        if (name === 'turn shortcut') return shortOutcome(ctx.conversation, ctx.turnId)
        const outcome = await next()
        await life.pause(1)
        if (name === 'turn throws') throw new Error('the turn displeases')
        return outcome
      },
      async dispatch(_, next) {
        await life.pause(1)
        if (name === 'dispatch skips') return
        await next()
        await life.pause(1)
        if (name === 'dispatch throws') throw new Error('the dispatch displeases')
      },
    }
  })
}

const shortOutcome = (conversation: string, turnId: string) => ({
  status: 'stopped' as const,
  text: '',
  output: undefined,
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  conversation,
  turnId,
  gates: [],
  reason: { code: 'MIDDLEWARE' as const, message: 'Not today.' },
})
