import { relative } from 'node:path'
import type { Model } from '../model/model.ts'
import type { HistoryItem } from '../records/history-item.ts'
import type { Store } from '../store/store.ts'
import { visibleText } from '../text/visible-text.ts'
import type { Executor } from '../turn/executor.ts'
import type { Middleware } from '../turn/middleware.ts'
import type { TurnOutcome } from '../turn/outcome.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { type Agent, builtInAgent } from './agent.ts'
import { findAgentFile, loadAgentFile } from './agent-file.ts'
import { approvalPrompt, type Decide, fixedAnswer } from './approval-prompt.ts'
import type { Options, Values } from './command.ts'
import { type DrivenTurn, driveTurn } from './drive-turn.ts'
import { wayOutOf } from './failure.ts'
import { EXIT, type Io, isInteractive } from './io.ts'
import { jsonView } from './json-view.ts'
import { chooseModel, MODEL_OPTIONS, openModel } from './model-choice.ts'
import { type Paint, paintFor } from './paint.ts'
import { Screen } from './screen.ts'
import { STORE_OPTIONS, storePath } from './store-location.ts'
import { TurnView } from './turn-view.ts'
import { usageError } from './usage-error.ts'

/** The options of every command that runs turns. */
export const TURN_OPTIONS = {
  agent: {
    type: 'string',
    short: 'a',
    value: 'FILE',
    help: 'An agent file; agent.ts or agent.mjs here, or else the built-in agent',
  },
  'built-in': { type: 'boolean', help: 'Use the built-in agent although there is an agent file' },
  ...MODEL_OPTIONS,
  yes: { type: 'boolean', short: 'y', help: 'Approve every call that asks' },
  no: { type: 'boolean', help: 'Deny every call that asks' },
  ...STORE_OPTIONS,
} as const satisfies Options

type TurnValues = Values<typeof TURN_OPTIONS>

/** A runner with its agent, its view and whoever decides. */
export interface TurnSession {
  readonly agent: Agent
  readonly isBuiltIn: boolean
  /** True when rules decide and no model. */
  readonly isOffline: boolean
  readonly screen: Screen
  readonly paint: Paint
  /** Where the records are, as a person would write it. */
  readonly store: string
  drive(start: (runner: TurnRunner) => Promise<TurnOutcome>): Promise<DrivenTurn>
  /** How much text the last request held. */
  promptBytes(): number
}

export async function openSession(values: TurnValues, io: Io, store: Store): Promise<TurnSession> {
  const file = values['built-in'] === true ? undefined : (values.agent ?? findAgentFile(io.cwd))
  const isBuiltIn = file === undefined
  const wordMs = io.stdout.isTTY === true ? 12 : 0
  const agent = isBuiltIn ? builtInAgent({ wordMs }) : await loadAgentFile(io.cwd, file)
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
  const { question: _question, model: _model, executor: _executor, ...options } = agent
  const mind = await brain(agent, values, io, file)
  const runner = new TurnRunner({
    ...options,
    ...mind,
    middleware: [measure, ...(agent.middleware ?? []), view.middleware],
    store,
  })
  let failure: unknown
  runner.observe('error', ({ error }) => (failure = error))
  if (values.json === true) jsonView(runner, io)
  else view.attach(runner)
  const choose = decider(values, io, isBuiltIn, screen, paint)
  const decide: Decide | undefined =
    choose &&
    ((gate) => {
      // What waits for a person does not move.
      view.stop()
      return choose(gate)
    })
  return {
    agent,
    isBuiltIn,
    isOffline: isBuiltIn && 'executor' in mind,
    screen,
    paint,
    store: relative(io.cwd, storePath(values, io)) || '.',
    promptBytes: () => promptBytes,
    async drive(start) {
      try {
        const turn = await driveTurn(runner, () => start(runner), decide, {
          signal: io.signal,
          tell: (refusal) => screen.line(paint.yellow(`! ${visibleText(refusal)}`)),
        })
        if (values.json !== true) view.answer(turn.outcome.text)
        return turn.outcome.status === 'failed' ? { ...turn, wayOut: wayOutOf(failure) } : turn
      } finally {
        view.stop()
      }
    },
  }
}

/** A model from the options or the environment, the file's own, or the rules of the built-in agent. */
async function brain(
  agent: Agent,
  values: TurnValues,
  io: Io,
  file: string | undefined,
): Promise<{ readonly model: Model } | { readonly executor: Executor }> {
  const { model, executor } = agent
  const isSet = file !== undefined && (model ?? executor) !== undefined
  const choice = isSet && values.model === undefined ? undefined : chooseModel(values, io.env)
  if (choice !== undefined) return { model: await openModel(choice, io.env) }
  if (model !== undefined) return { model }
  if (executor !== undefined) return { executor }
  throw usageError(
    `\`${file}\` names no model: export \`model\`, pass \`--model PROVIDER:NAME\`, or set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.`,
  )
}

function decider(
  values: TurnValues,
  io: Io,
  isBuiltIn: boolean,
  screen: Screen,
  paint: Paint,
): Decide | undefined {
  if (values.yes === true || values.no === true) return fixedAnswer(values.no !== true, io)
  if (values.json !== true && isInteractive(io)) return approvalPrompt(io, paint)
  if (!isBuiltIn) return undefined
  // The incident is generated: what is approved here changes nothing outside this process.
  const approve = fixedAnswer(true, io)
  return async (gate) => {
    if (values.json !== true) {
      screen.line('? Nobody is there to ask, and this incident is only generated: approved.')
    }
    return approve(gate)
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

/** How a turn's end is told to a script. */
export function exitCodeOf({ outcome: { status }, loss }: DrivenTurn, io: Io): number {
  if (io.signal.aborted || status === 'aborted') return EXIT.interrupted
  if (status === 'suspended') return EXIT.waiting
  return status === 'completed' && loss === undefined ? EXIT.ok : EXIT.failed
}
