import type { Model } from '../../model/model.ts'
import type { Executor } from '../../turn/executor/executor.ts'
import type { TurnRunnerOptions } from '../../turn/options/runner-options.ts'
import type { AgentMcpServers } from '../servers/server-entry.ts'

/** What an agent file exports: options of a `TurnRunner`, and a few for the command line. */
export type Agent = Omit<TurnRunnerOptions, 'store' | 'spool' | 'model' | 'executor'> & {
  readonly model?: Model
  readonly executor?: Executor
  /** Decides without a model: no key is set, or `--offline` is given. */
  readonly offline?: Executor
  /** Asked when the command line has no question; of several, the first. */
  readonly question?: string | readonly string[]
  /** MCP servers whose tools the agent has too, by name. */
  readonly mcpServers?: AgentMcpServers
}

/** The agent's own questions. */
export const questionsOf = ({ question = [] }: Agent): readonly string[] =>
  typeof question === 'string' ? [question] : question

/** The options of the runner in an agent, but for who decides. */
export function runnerOptions(agent: Agent) {
  const { question: _, model: _model, executor: _executor, offline: _offline, ...options } = agent
  return options
}
