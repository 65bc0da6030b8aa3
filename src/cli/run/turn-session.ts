import { relative } from 'node:path'
import { isServedCall, servedOptions, settledCall } from '../../mcp/server/served-runner.ts'
import type { Model } from '../../model/model.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { Store } from '../../store/store.ts'
import { visibleText } from '../../text/visible-text.ts'
import type { Middleware } from '../../turn/call/middleware.ts'
import type { Executor } from '../../turn/executor/executor.ts'
import type { TurnOutcome } from '../../turn/limits/outcome.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import type { Options, Values } from '../command/command.ts'
import { wayOutOf } from '../command/failure.ts'
import { STORE_OPTIONS, storePath } from '../command/store-location.ts'
import { usageError } from '../command/usage-error.ts'
import { EXIT, type Io, isInteractive } from '../terminal/io.ts'
import { type Paint, paintFor } from '../terminal/paint.ts'
import { quietKeys } from '../terminal/quiet-keys.ts'
import { Screen } from '../terminal/screen.ts'
import { type Agent, runnerOptions } from './agent.ts'
import type { LoadedAgent } from './agent-file.ts'
import { approvalPrompt, type Decide, fixedAnswer, gateLine } from './approval-prompt.ts'
import { type DrivenTurn, driveTurn } from './drive-turn.ts'
import { jsonView } from './json-view.ts'
import { chooseModel, MODEL_OPTIONS, openModel } from './model-choice.ts'
import { TurnView } from './turn-view.ts'
import { OTEL_OPTION } from './with-telemetry.ts'

/** The options of every command that runs turns. */
export const TURN_OPTIONS = {
  agent: {
    type: 'string',
    short: 'a',
    value: 'FILE',
    help: 'The agent file; agent.ts or agent.mjs of this folder unless given',
  },
  ...MODEL_OPTIONS,
  yes: { type: 'boolean', short: 'y', help: 'Approve every call that asks' },
  no: { type: 'boolean', help: 'Deny every call that asks' },
  ...OTEL_OPTION,
  ...STORE_OPTIONS,
} as const satisfies Options

type TurnValues = Values<typeof TURN_OPTIONS>

/** A runner with its agent, its view, and the way to decide gates. */
export interface TurnSession {
  /** True when the agent's `offline` executor decides. */
  readonly isOffline: boolean
  readonly screen: Screen
  readonly paint: Paint
  /** Where the records are, as a person would write it. */
  readonly store: string
  drive(start: (runner: TurnRunner) => Promise<TurnOutcome>): Promise<DrivenTurn>
  /** How much text the last request held. */
  promptBytes(): number
}

/** Opens the session of a command; `unfinished` is the conversation that it only continues. */
export async function openSession(
  { agent, file }: LoadedAgent,
  values: TurnValues,
  io: Io,
  store: Store,
  unfinished = '',
): Promise<TurnSession> {
  const screen = new Screen(io)
  const paint = paintFor(io)
  const view = new TurnView(screen, paint)
  let promptBytes = 0
  const measure: Middleware = {
    async dispatch(ctx, next) {
      await next()
      promptBytes = ctx.items.reduce((sum, item) => sum + itemBytes(item), 0)
    },
  }
  const mind = isServedCall(unfinished) ? SETTLING : await mindOf(agent, values, io, file)
  const runner = new TurnRunner({
    ...(mind === SETTLING ? servedOptions(agent) : runnerOptions(agent)),
    tools: agent.tools ?? [],
    ...(agent.telemetry && { telemetry: agent.telemetry }),
    ...mind,
    middleware: [measure, ...(agent.middleware ?? []), view.middleware],
    store,
  })
  let failure: unknown
  runner.observe('error', ({ error }) => (failure = error))
  if (values.json === true) jsonView(runner, io)
  else view.attach(runner)
  const choose = decider(values, io, { screen, paint, hasSubject: agent.subject !== undefined })
  let release = () => {}
  const decide: Decide | undefined =
    choose &&
    ((gate) => {
      // A screen that waits for a person stands still, and takes keys.
      view.stop()
      release()
      return choose(gate).finally(() => (release = quietKeys(io)))
    })
  return {
    isOffline: 'executor' in mind && mind.executor === agent.offline,
    screen,
    paint,
    store: relative(io.cwd, storePath(values, io)) || '.',
    promptBytes: () => promptBytes,
    async drive(start) {
      release = quietKeys(io)
      try {
        const turn = await driveTurn(runner, () => start(runner), decide, {
          signal: io.signal,
          tell: (refusal) => screen.line(paint.yellow(`! ${visibleText(refusal)}`)),
        })
        if (values.json !== true) view.answer(turn.outcome.text)
        return turn.outcome.status === 'failed' ? { ...turn, wayOut: wayOutOf(failure) } : turn
      } finally {
        release()
        view.stop()
      }
    },
  }
}

/** What decides on an interrupted call of an MCP client, which is not the agent's. */
const SETTLING = { executor: settledCall }

/** Who decides: a model from the options, the agent's own, a model from the environment, or `offline`. */
export async function mindOf(
  { model, executor, offline }: Agent,
  values: Values<typeof MODEL_OPTIONS>,
  io: Io,
  file: string,
): Promise<{ readonly model: Model } | { readonly executor: Executor }> {
  if (values.offline === true) {
    const rules = offline ?? executor
    if (rules !== undefined) return { executor: rules }
    throw usageError(`\`--offline\` needs an executor: \`${file}\` exports no \`offline\`.`)
  }
  if (values.model === undefined) {
    if (model !== undefined) return { model }
    if (executor !== undefined) return { executor }
  }
  const choice = chooseModel(values, io.env)
  if (choice !== undefined) return { model: await openModel(choice, io.env) }
  if (offline !== undefined) return { executor: offline }
  throw usageError(
    `\`${file}\` has no model: export \`model\`, pass \`--model PROVIDER:NAME\`, or set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.`,
  )
}

interface PromptPlace {
  readonly screen: Screen
  readonly paint: Paint
  readonly hasSubject: boolean
}

function decider(
  values: TurnValues,
  io: Io,
  { screen, paint, hasSubject }: PromptPlace,
): Decide | undefined {
  const isText = values.json !== true
  if (values.yes !== true && values.no !== true) {
    return isText && isInteractive(io) ? approvalPrompt(io, paint, hasSubject) : undefined
  }
  const answer = fixedAnswer(values.no !== true, io)
  const said = values.no === true ? 'denied by --no' : 'approved by --yes'
  return async (gate) => {
    const given = await answer(gate)
    const told = given === undefined ? '--yes cannot answer it' : said
    if (isText) screen.line(`${gateLine(gate, paint)}: ${told}`)
    return given
  }
}

function itemBytes(item: HistoryItem): number {
  if (item.type === 'message') return partBytes(item.parts)
  if (item.type === 'thought') return item.text.length
  if (item.type !== 'call') return 0
  return JSON.stringify(item.args).length + partBytes(item.result?.parts ?? [])
}

const partBytes = (parts: readonly { readonly type: string; readonly text?: string }[]) =>
  parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0)

/** The exit code of a turn, for scripts. */
export function exitCodeOf({ outcome: { status }, loss }: DrivenTurn, io: Io): number {
  if (io.signal.aborted || status === 'aborted') return EXIT.interrupted
  if (status === 'suspended') return EXIT.waiting
  return status === 'completed' && loss === undefined ? EXIT.ok : EXIT.failed
}
