import { type Clock, sureClock } from '../../core/clock.ts'
import { BobbinError } from '../../core/error/error.ts'
import { checkedIds, type IdSource } from '../../core/ids.ts'
import { type OptionValues, readOptions } from '../../core/options.ts'
import type { Model } from '../../model/model.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { ToolRegistry } from '../../tools/tool-registry.ts'
import type { InnerTurns, OuterTurn } from '../call/inner-turn.ts'
import type { Executor } from '../executor/executor.ts'
import { modelExecutor } from '../executor/model-executor.ts'
import { RENAMED_OPTIONS, RUNNER_OPTIONS, type RunnerOptions, type Sleep } from './option-table.ts'

/** A model or an executor is required; everything else has a default. */
export type TurnRunnerOptions = RunnerOptions &
  (
    | { readonly model: Model; readonly executor?: never }
    | { readonly executor: Executor; readonly model?: never }
  )

type Values = OptionValues<typeof RUNNER_OPTIONS>

/** The options with every default filled in. */
export interface RunnerSettings
  extends Omit<Values, 'executor' | 'tools' | 'store' | 'spool' | 'testing'> {
  readonly executor: Executor
  readonly tools: ToolRegistry
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
  const spool = values.spool ?? store.spool ?? memorySpool()
  if (store.durable && !spool.durable) {
    throw invalidRunner(
      '`TurnRunner` has a durable store and a spool that dies with the process. Pass `spool: fileSpool(folder)` to the runner; import `fileSpool` from `bobbin-adk/fs`.',
    )
  }
  const tools = new ToolRegistry(values.tools)
  // Every turn of the runner gets this registry, so none of them may change it.
  Object.freeze(tools)
  return {
    ...values,
    executor,
    tools,
    store,
    spool,
    clock: sureClock(testing.clock),
    ids: checkedIds(testing.ids),
    sleep: testing.sleep,
    inner,
  }
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
