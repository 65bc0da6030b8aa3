import { onTestFinished } from 'vitest'
import { inlineBySize } from '../../src/prompt/inline-by-size.ts'
import { Memory } from '../../src/records/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { loopbackProvider } from '../../src/testing/index.ts'
import type { Middleware } from '../../src/turn/call/middleware.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { wire } from '../../src/wire/index.ts'
import { sampleTool } from '../turn-samples.ts'
import { samplesOf } from '../wire/provider-samples.ts'
import type { ScriptedCall } from '../wire/wire-script.ts'

/** A long turn with handles, and five more: 61 requests. */
export const STEPS = [40, 3, 3, 3, 3, 3]
/** Calls side by side in every tenth step: more blocks than Anthropic looks back. */
const MANY = 12

const readLog = sampleTool('read_log', ({ q }) => `log of ${q}\n${'line\n'.repeat(500)}`, {
  inline: false,
})
const look = sampleTool(
  'look',
  ({ q }) => `What ${q} is about: ${'words and more words '.repeat(20)}`,
)

const sized = sampleTool('sized', ({ q }) => `${q} `.repeat(200), {
  inline: inlineBySize({ bytes: 1500 }),
})
const failing = sampleTool('fail', () => {
  throw new Error('There is no build today.')
})
const pay = sampleTool('pay', () => 'paid', { effect: 'write', approval: true })

const memory = (id: string) =>
  new Memory({
    id,
    content: `What is known of ${id}.`,
    importance: 0.5,
    confidence: 1,
    trustTier: 'first-party',
    createdAt: 0,
  })

/** Adds something to remember to every turn, and in the middle of the long one. */
const remembering: Middleware = {
  dispatch: (ctx, next) => {
    ctx.addMemory(memory(`turn ${ctx.items.length}`))
    return next()
  },
  call: ({ ctx, id }, next) => {
    if (id.startsWith('call_20_')) ctx.addMemory(memory(id))
    return next()
  },
}

/** The calls of one step: a log as a handle, reading from it, small results, and sometimes many at once or calls that go wrong. */
function callsOf(step: number): readonly ScriptedCall[] {
  const call = (tool: string, args: object, at = 0): ScriptedCall => ({
    id: `call_${step}_${at}`,
    tool,
    args: JSON.stringify(args),
  })
  if (step % 10 === 9) {
    return Array.from({ length: MANY }, (_, at) => call('look', { q: `part ${step}.${at}` }, at))
  }
  if (step % 10 === 5) {
    return [
      call('fail', {}),
      call('look', { q: 5 }, 1),
      call('no_such_tool', {}, 2),
      call('pay', { q: `bill ${step}` }, 3),
      call('sized', { q: 'small' }, 4),
      call('sized', { q: 'large and larger' }, 5),
    ]
  }
  if (step % 3 === 0) return [call('read_log', { q: `step ${step}` })]
  if (step % 3 === 1) return [call('artifact_head', { callId: `call_${step - 1}_0`, lines: 3 })]
  return [call('look', { q: `step ${step}` })]
}

/** Protocols whose prompt cache wants a key. No server on loopback is known to take it, so the model is told. */
const KEYED = ['foundry', 'openai-chat', 'openai-responses']

/** Plays the conversation and gives the bodies of all requests. `open` gives a runner its store; a reloaded turn has its own. */
export async function play(
  api: string,
  open: () => Store | Promise<Store>,
  isReloaded: boolean,
  budget?: { readonly maxTokens: number },
) {
  const { script, open: connect, model } = samplesOf(api)
  const settings = { model: model.model, ...(KEYED.includes(api) && { cache: true }) }
  let step = 0
  const exchanges = STEPS.flatMap((count, turn) => [
    ...Array.from({ length: count }, () => ({ events: [...script.calls(callsOf(step++))] })),
    { events: [...script.answer(`This is what turn ${turn} found.`)] },
  ])
  const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  onTestFinished(() => server.close())
  const make = async () =>
    new TurnRunner({
      model: connect(server.url, settings),
      tools: [readLog, look, sized, failing, pay],
      approve: () => ({ approve: true, decidedBy: 'ann' }),
      instructions: 'Find out why the build fails. '.repeat(20),
      middleware: [remembering],
      limits: { iterations: 100 },
      ...(budget && { budget }),
      store: await open(),
    })
  const live = await make()
  for (const turn of STEPS.keys()) {
    const runner = isReloaded && turn > 0 ? await make() : live
    const { status, reason } = await runner.run({ conversation: 'c', message: `Question ${turn}?` })
    if (status !== 'completed') throw new Error(`turn ${turn}: ${JSON.stringify(reason)}`)
  }
  return server.requests.map(({ body }) => body as Record<string, unknown>)
}
