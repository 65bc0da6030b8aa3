import { type Clock, sureClock } from '../../core/clock.ts'
import { BobbinError } from '../../core/error/error.ts'
import { thrownText } from '../../core/error/thrown-text.ts'
import { checkedIds, type IdSource } from '../../core/ids.ts'
import { type OptionValues, readOptions } from '../../core/options.ts'
import type { Model } from '../../model/model.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import type { Tool } from '../../tools/tool.ts'
import { ToolRegistry } from '../../tools/tool-registry.ts'
import type { InnerTurns, OuterTurn } from '../call/inner-turn.ts'
import { summaryModels } from '../compact/model-summary.ts'
import type { Executor } from '../executor/executor.ts'
import { modelExecutor, modelsOf } from '../executor/model-executor.ts'
import { type Prices, priceOf } from '../limits/prices.ts'
import type { AgentOptions, SetupContext } from './agent-options.ts'
import { type Agent, fixedAgents, type Offer } from './agents.ts'
import { RENAMED_OPTIONS, RUNNER_OPTIONS, type RunnerOptions, type Sleep } from './option-table.ts'

/** A model or an executor is required; everything else has a default. */
export type TurnRunnerOptions<Context = unknown> = RunnerOptions<Context> &
  (
    | { readonly model: Model; readonly executor?: never }
    | { readonly executor: Executor; readonly model?: never }
  )

type Values = OptionValues<typeof RUNNER_OPTIONS>

/** The options with every default filled in. */
export interface RunnerSettings
  extends Omit<
    Values,
    'executor' | 'tools' | 'instructions' | 'agents' | 'store' | 'spool' | 'testing'
  > {
  readonly executor: Executor
  /** True when the application brought the executor: it may change requests. */
  readonly hasOwnExecutor: boolean
  /** The names of the models that may be asked, as far as they are known. */
  readonly models: readonly string[]
  /** Whether one of them takes changes of instructions and tools at the end of the history. */
  readonly appends: boolean
  /** Empty until the turn has begun, if a function gives them. */
  readonly tools: ToolRegistry
  readonly instructions: string | undefined
  /** The agents of the turn, if the runner has several. `tools` are those of all of them then. */
  readonly agents?: ReadonlyMap<string, Agent>
  /** Gives tools and instructions for a turn. */
  readonly setUp: (ctx: SetupContext) => Promise<TurnSetup>
  readonly store: NonNullable<Values['store']>
  readonly spool: NonNullable<Values['spool']>
  readonly clock: Clock
  readonly ids: IdSource
  readonly sleep: Sleep
  /** The way to turns inside calls. */
  readonly inner: (outer: OuterTurn) => InnerTurns
}

const READER = { of: 'TurnRunner', code: 'E_INVALID_RUNNER', renamed: RENAMED_OPTIONS } as const

/** Checks the options of a runner and fills in the defaults. */
export function runnerSettings(
  options: TurnRunnerOptions,
  inner: RunnerSettings['inner'],
): RunnerSettings {
  if (typeof options !== 'object' || options === null) throw needsExecutor()
  const { testing, ...values } = readOptions(READER, RUNNER_OPTIONS, options)
  const { model, store = memoryStore() } = values
  const executor = values.executor ?? (model && modelExecutor(model))
  if (executor === undefined) throw needsExecutor()
  if (executor === values.executor && model !== undefined) {
    throw invalidRunner('`TurnRunner` has both a `model` and an `executor`. Pass one of them.')
  }
  const several = values.agents && fixedAgents(values.agents)
  const asking = [executor, ...(several?.executors ?? [])].flatMap(modelsOf)
  const models = asking.map((one) => one.model)
  const { budget, compact } = values
  if (budget !== undefined && compact !== undefined && compact.at > budget.maxTokens) {
    throw invalidRunner(
      '`compact.at` of `TurnRunner` is more than `budget.maxTokens`: requests never become so large. Lower it.',
    )
  }
  const needsPrices = Number.isFinite(values.limits.cost)
  const summarisers = compact === undefined ? [] : summaryModels(compact.summarise)
  const named = [...models, ...summarisers.map((one) => one.model)]
  if (needsPrices) requirePrices(named, values.prices)
  const spool = values.spool ?? store.spool ?? memorySpool()
  if (store.durable && !spool.durable) {
    throw invalidRunner(
      '`TurnRunner` has a durable store and a spool that dies with the process. Pass `spool: fileSpool(folder)` to the runner or to the store; import `fileSpool` from `bobbin-adk/fs`. If the store is on a server, the folder must be one that all machines which use the store share.',
    )
  }
  const { agents = {}, ...own } = values
  const fixed = { tools: fixedTools(own), instructions: fixedText(own) }
  const given = Object.entries(agents).map(
    ([name, agent]) =>
      [name, { tools: fixedTools(agent), instructions: fixedText(agent) }] as const,
  )
  // Faults of a fixed list are found here, not in the first turn.
  const offers = several?.offers(fixed, new Map(given))
  return {
    ...own,
    ...fixed,
    ...offers,
    executor,
    hasOwnExecutor: executor === values.executor && modelsOf(executor).length === 0,
    models,
    appends: asking.some((one) => one.appends === true),
    setUp: async (ctx) => {
      const runner = await asked(own, fixed, ctx)
      if (several === undefined) return runner
      const each = given.map(async ([name, before]) => {
        const offer = await asked(agents[name] ?? {}, before, ctx, `agents.${name}.`)
        return [name, offer] as const
      })
      return { ...runner, ...several.offers(runner, new Map(await Promise.all(each))) }
    },
    store,
    spool,
    clock: sureClock(testing.clock),
    ids: checkedIds(testing.ids),
    sleep: testing.sleep,
    inner,
  }
}

/** What a turn is set up with. */
export type TurnSetup = Pick<RunnerSettings, 'tools' | 'instructions' | 'agents'>

/** Refuses a limit of cost that cannot be checked. */
export function requirePrices(models: readonly string[], prices: Prices | undefined): void {
  const unpriced = models.find((model) => priceOf(prices, model) === undefined)
  if (unpriced === undefined) return
  throw invalidRunner(
    `\`limits.cost\` of \`TurnRunner\` needs a price for \`${unpriced}\`. Add it to \`prices\`: \`{ '${unpriced}': { input, output } }\`.`,
  )
}

/** Several turns, or iterations, share a registry, so none of them may change it. */
function registryOf(tools: Iterable<Tool> | undefined): ToolRegistry {
  const registry = new ToolRegistry(tools)
  Object.freeze(registry)
  return registry
}

/** What gives tools and instructions: a runner, or one of its agents. */
type Giver = { readonly [Name in 'tools' | 'instructions']?: AgentOptions[Name] | undefined }

const fixedTools = ({ tools }: Giver) => registryOf(typeof tools === 'function' ? [] : tools)

const fixedText = ({ instructions }: Giver) =>
  typeof instructions === 'function' ? undefined : instructions

/** Asks the functions of the application; an error says which one failed. */
async function asked(
  { tools, instructions }: Giver,
  fixed: Offer,
  ctx: SetupContext,
  path = '',
): Promise<Offer> {
  const ask = async <T>(option: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      const message = `\`${path}${option}\` of the runner failed: ${thrownText(error)}`
      throw new Error(message, { cause: error })
    }
  }
  return {
    tools:
      typeof tools === 'function'
        ? await ask('tools', async () => registryOf(await tools(ctx)))
        : fixed.tools,
    instructions:
      typeof instructions === 'function'
        ? await ask('instructions', async () => requireText(await instructions(ctx)))
        : fixed.instructions,
  }
}

function requireText(given: unknown): string {
  if (typeof given === 'string') return given
  throw new TypeError('It returned no string.')
}

/** Whether a runner has an option of this name. */
export const isRunnerOption = (name: string): boolean =>
  Object.hasOwn(RUNNER_OPTIONS, name) || Object.hasOwn(RENAMED_OPTIONS, name)

const needsExecutor = () =>
  invalidRunner(
    '`TurnRunner` needs a `model` or an `executor`. Pass one of them, in an object of options.',
  )

function invalidRunner(message: string): BobbinError {
  return new BobbinError('E_INVALID_RUNNER', message, { rule: message.slice(0, -1) })
}
