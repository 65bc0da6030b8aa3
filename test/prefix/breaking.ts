import type { Model } from '../../src/model/model.ts'
import type { Store } from '../../src/store/store.ts'
import type { Executor } from '../../src/turn/executor/executor.ts'
import { modelExecutor } from '../../src/turn/executor/model-executor.ts'
import type { RunnerOptions } from '../../src/turn/options/option-table.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { sampleTool } from '../turn-samples.ts'
import type { ScriptedCall, WireScript } from '../wire/wire-script.ts'

const look = sampleTool(
  'look',
  ({ q }) => `What ${q} is about: ${'words and more words '.repeat(40)}`,
)
const other = sampleTool('other', () => 'other')
const large = sampleTool('large', () => 'a long line of a log file\n'.repeat(2_000))
const pay = sampleTool('pay', () => new Promise<string>(() => {}), {
  effect: 'write',
  timeoutMs: 20,
  reconcile: async () => ({ happened: 'yes', output: 'paid' }),
})

type Options = Omit<RunnerOptions, 'model' | 'executor'>

/** One turn: what the runner has in it, what the model asks for, and which causes break the prefix. */
interface BreakingTurn {
  readonly calls?: readonly string[]
  readonly options?: Options
  /** Puts an executor of the application before the model. */
  readonly through?: (model: Model) => Executor
  /** A model of another name. */
  readonly isStranger?: boolean
  /** `recover` comes before the turn. */
  readonly isRecovered?: boolean
  /** The cause of each break, in order; empty for a break that nothing explains. */
  readonly breaks?: readonly (readonly string[])[]
}

const FIRST: Options = { tools: [look, large, pay], instructions: 'Find out why.' }
const TOOLS = { ...FIRST, tools: [look, large, pay, other] }
const TOLD = { ...TOOLS, instructions: 'Find out who.' }

/** A conversation in which everything happens that may break a prefix. */
export const BREAKING: readonly BreakingTurn[] = [
  { options: FIRST, calls: ['look', 'look'] },
  { options: FIRST, calls: ['look'] },
  { options: TOOLS, calls: ['look'], breaks: [['tools']] },
  { options: TOLD, calls: ['look'], breaks: [['instructions']] },
  { calls: ['large', 'look'] },
  { isStranger: true, breaks: [['model']] },
  { calls: ['pay'], breaks: [['model']] },
  { isRecovered: true, calls: ['look'], breaks: [['edit']] },
  {
    options: { ...TOLD, budget: { maxTokens: 12_000 } },
    calls: ['look'],
    breaks: [['budget', 'handle']],
  },
  { calls: ['look'] },
  {
    options: {
      ...TOLD,
      compact: { at: 1_000, keepTurns: 1, summarise: async () => ({ text: 'They looked.' }) },
    },
    calls: ['look'],
    breaks: [['compaction']],
  },
  {
    through: (model) => {
      const ask = modelExecutor(model)
      let times = 0
      return (ctx, helpers) => ask({ ...ctx, instructions: `It is ${++times} o'clock.` }, helpers)
    },
    calls: ['look'],
    breaks: [[], []],
  },
]

/** What a server answers in one turn. */
export function answersOf(script: WireScript, turn: number): readonly { events: unknown[] }[] {
  const asked = (BREAKING[turn]?.calls ?? []).map((tool, at): ScriptedCall => {
    const id = `call_${turn}_${at}`
    return { id, tool, args: JSON.stringify({ q: `${turn}.${at}` }) }
  })
  return [
    ...asked.map((call) => ({ events: [...script.calls([call])] })),
    { events: [...script.answer(`This is what turn ${turn} found.`)] },
  ]
}

/** Plays one turn, with a runner of its own, and gives the codes of its warnings. */
export async function playBreaking(
  turn: number,
  store: Store,
  connect: (isStranger: boolean) => Model,
): Promise<readonly string[]> {
  const { options = TOLD, through, isStranger = false, isRecovered } = BREAKING[turn] ?? {}
  const model = connect(isStranger)
  const executor = through?.(model) ?? modelExecutor(model)
  const approve = () => ({ approve: true, decidedBy: 'ann' })
  const runner = new TurnRunner({ ...options, executor, approve, store })
  const warnings: string[] = []
  runner.observe('warning', ({ code }) => warnings.push(code))
  if (isRecovered) await runner.recover({ conversation: 'c' })
  const { status, reason } = await runner.run({ conversation: 'c', message: `Question ${turn}?` })
  if (status !== 'completed') throw new Error(`turn ${turn}: ${JSON.stringify(reason)}`)
  return warnings
}
