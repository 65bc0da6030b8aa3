import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import type { Model } from '../model/model.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { GateRequest } from '../store/gate.ts'
import type { InputSchema } from '../tools/input-schema.ts'
import { Tool } from '../tools/tool.ts'
import type { ToolContext } from '../tools/tool-context.ts'
import type { Compaction } from './compact/compaction.ts'
import { modelSummary } from './compact/model-summary.ts'
import type { ObservedEvents } from './events/turn-events.ts'
import type { Executor } from './executor/executor.ts'
import type { Approve, GateAnswer } from './gates/gate-answer.ts'
import type { StopReason } from './limits/outcome.ts'
import { TurnRunner } from './turn-runner.ts'

// Whoever decides may do so at once.
expectTypeOf<(request: GateRequest) => boolean>().toExtend<Approve>()
expectTypeOf<() => { approve: false; decidedBy: string }>().toExtend<Approve>()
expectTypeOf<() => Promise<boolean>>().toExtend<Approve>()
expectTypeOf<() => string>().not.toExtend<Approve>()

// Observers can tell every case apart.
type Told<
  Name extends keyof ObservedEvents,
  Key extends keyof ObservedEvents[Name],
> = ObservedEvents[Name][Key]
expectTypeOf<Told<'gateDecided', 'decision'>>().toEqualTypeOf<
  'approved' | 'denied' | 'edited' | 'answered'
>()
expectTypeOf<Told<'warning', 'code'>>().toEqualTypeOf<
  | 'COMPACTION_FAILED'
  | 'IN_DOUBT'
  | 'LATE_RESULT'
  | 'MODEL_FALLBACK'
  | 'MODEL_RETRY'
  | 'OUTPUT_CORRECTION'
  | 'PREFIX_BROKEN'
  | 'RESULT_TOO_LARGE'
  | 'THINKING_LEFT_OUT'
  | 'UNDECLARED_EFFECT'
>()
expectTypeOf<'middleware' | 'turn-end' | 'toolCall' | 'warning'>().toExtend<
  Told<'error', 'where'>
>()
expectTypeOf<'error'>().not.toExtend<Told<'error', 'where'>>()

// The output is what the schema says, of whatever kind the schema is.
declare const runner: TurnRunner
const input = { message: 'a' }
const plain = {
  type: 'object',
  properties: { cause: { type: 'string' }, sure: { type: 'boolean' } },
  required: ['cause'],
} as const
const byPlain = await runner.run({ ...input, output: plain })
expectTypeOf(byPlain.output).toEqualTypeOf<{ cause: string; sure?: boolean } | undefined>()
const byInline = await runner.stream({
  ...input,
  output: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
}).outcome
expectTypeOf(byInline.output).toEqualTypeOf<{ n: number } | undefined>()
const byZod = await runner.stream({ ...input, output: z.object({ cause: z.string() }) }).outcome
expectTypeOf(byZod.output).toEqualTypeOf<{ cause: string } | undefined>()
expectTypeOf((await runner.run(input)).output).toEqualTypeOf<unknown>()

// The status says which of the two is there.
if (byZod.status === 'completed') {
  expectTypeOf(byZod.output).toEqualTypeOf<{ cause: string }>()
  expectTypeOf(byZod.reason).toEqualTypeOf<undefined>()
} else {
  expectTypeOf(byZod.reason).toEqualTypeOf<StopReason>()
  expectTypeOf(byZod.output).toEqualTypeOf<undefined>()
}

// Arguments may be what an interface describes, and neither lists nor functions.
interface Query {
  readonly service: string
  readonly apply?: boolean
}
declare const query: Query
expectTypeOf(async () => ({ calls: [{ tool: 'a', args: query }] })).toExtend<Executor>()
expectTypeOf(async () => ({ calls: [{ tool: 'a', args: [query] }] })).not.toExtend<Executor>()
expectTypeOf(async () => ({ calls: [{ tool: 'a', args: () => query }] })).not.toExtend<Executor>()
expectTypeOf(async () => ({ calls: [{ tool: 'a', args: new Date() }] })).not.toExtend<Executor>()
const edited: GateAnswer = { gate: 'g', approve: true, decidedBy: 'me', args: query }
expectTypeOf(edited.args).not.toExtend<readonly unknown[]>()
new ToolCall({
  id: 'a',
  tool: 'a',
  args: query,
  results: 'x',
  isComplete: true,
  isError: true,
  createdAt: 0,
  completedAt: 0,
})

// What a tool needs as context, its runner asks for.
declare const anything: Tool
declare const looks: Tool<InputSchema, { readonly user: string }>
const needing = new TurnRunner({ executor: async () => ({ answer: '' }), tools: [looks, anything] })
expectTypeOf(needing).toEqualTypeOf<TurnRunner<{ readonly user: string }>>()
void needing.run({ message: 'a', context: { user: 'ana' } })
// @ts-expect-error the tools need a context
void needing.run({ message: 'a' })
// @ts-expect-error the context is another one
void needing.run({ message: 'a', context: { user: 1 } })
void runner.run({ message: 'a', context: [1] })
const typed = new Tool({
  name: 'a',
  description: 'a',
  inputSchema: plain,
  handler: ({ cause }, ctx: ToolContext<{ readonly user: string }>) => cause + ctx.context.user,
})
expectTypeOf(typed).toExtend<typeof looks>()

// A summary may depend on the context, and one of a model fits every runner.
declare const writer: Model
const executor: Executor = async () => ({ answer: '' })
const compact: Compaction<{ readonly user: string }> = {
  at: 1,
  summarise: ({ context }) => context.user,
}
new TurnRunner({ executor, tools: [looks], compact })
new TurnRunner({ executor, tools: [looks], compact: { at: 1, summarise: modelSummary(writer) } })
