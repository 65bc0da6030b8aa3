import { wrongInput } from '../../core/error/wrong-input.ts'
import type { RunnerOptions } from '../../turn/options/option-table.ts'
import { isRunnerOption } from '../../turn/options/runner-options.ts'

const SERVED = [
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
] as const satisfies readonly (keyof RunnerOptions)[]

/** The options of a runner that count for calls of clients, on which no model decides. */
export type McpRunnerOptions = Pick<RunnerOptions, (typeof SERVED)[number]>

const isServed = (name: string) => (SERVED as readonly string[]).includes(name)

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
