import { wrongInput } from '../../core/error/wrong-input.ts'
import type { Executor } from '../../turn/executor/executor.ts'
import type { RunnerOptions } from '../../turn/options/option-table.ts'
import { isRunnerOption } from '../../turn/options/runner-options.ts'

/** The options of a runner that count for calls of clients, on which no model decides. */
export type McpRunnerOptions = Pick<
  RunnerOptions,
  | 'approve'
  | 'artifacts'
  | 'conversationSecret'
  | 'leaseMs'
  | 'limits'
  | 'mayDecide'
  | 'middleware'
  | 'policy'
  | 'secrets'
  | 'subject'
  | 'testing'
  | 'timeoutMs'
>

const SERVED: readonly string[] = [
  'approve',
  'artifacts',
  'conversationSecret',
  'leaseMs',
  'limits',
  'mayDecide',
  'middleware',
  'policy',
  'secrets',
  'subject',
  'testing',
  'timeoutMs',
] satisfies readonly (keyof McpRunnerOptions)[]

const isServed = (name: string) => SERVED.includes(name)

/** Refuses the options that have no meaning here; the runner itself checks the values of the others. */
export function requireServed(options: McpRunnerOptions): void {
  const stray = Object.keys(options).find((name) => isRunnerOption(name) && !isServed(name))
  if (stray === undefined) return
  const rule = `does not count for calls of clients: leave it out, or use ${SERVED.join(', ')}`
  throw wrongInput('mcpServer', `runner.${stray}`, rule)
}

/** What counts of the options of a whole runner. */
export const servedOptions = (options: RunnerOptions): McpRunnerOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => isServed(name)))

/** The name of the conversation that holds a new call of a client. */
export const newServedCall = (): string => `mcp-${crypto.randomUUID()}`

/** Whether a conversation holds a call of a client. Those of agents have other names. */
export const isServedCall = (conversation: string): boolean =>
  /^mcp-[0-9a-f-]{36}$/.test(conversation)

/** Ends the turn of a call that was interrupted: the client that asked has gone, and no model may add calls. */
export const settledCall: Executor = async () => ({ answer: 'The call of the client is settled.' })
