import { isIterable, isObject } from '../../core/error/wrong-input.ts'
import { hasMethods, isFunction } from '../../core/options.ts'
import type { Model } from '../../model/model.ts'
import type { InputSchema } from '../../tools/input-schema.ts'
import type { Tool } from '../../tools/tool.ts'

/** What `instructions` and `tools` get where they are functions. */
export interface SetupContext<Context = unknown> {
  /** What the application passed to `run` as `context`. */
  readonly context: Context
  readonly conversation: string
  readonly turnId: string
}

/** The tools of a runner: a list, or a function that gives one for each turn. */
export type ToolsOption<Context> =
  | Iterable<Tool<InputSchema, Context>>
  | ((
      ctx: SetupContext<Context>,
    ) => Iterable<Tool<InputSchema, Context>> | Promise<Iterable<Tool<InputSchema, Context>>>)

/** One of several agents that share a conversation. */
export interface AgentOptions<Context = unknown> {
  /** What the model reads after the runner's own `instructions`. */
  readonly instructions?: string | ((ctx: SetupContext<Context>) => string | Promise<string>)
  /** The tools that it has besides the runner's own. */
  readonly tools?: ToolsOption<Context>
  /** Decides while it is active; the runner's model or executor unless given. */
  readonly model?: Model
  /** What the other agents read about it. */
  readonly description?: string
  /** The agents that it may hand over to; every other one unless given. */
  readonly handOverTo?: readonly string[]
}

/** Whether a value has the form of agents; whether their names fit each other is checked later. */
export const isAgents = (value: unknown): boolean =>
  isObject(value) &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every(isAgent)

const MEMBERS = ['instructions', 'tools', 'model', 'description', 'handOverTo']

function isAgent(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).some((name) => !MEMBERS.includes(name))) return false
  const { instructions, tools, model, description, handOverTo } = value as Record<string, unknown>
  return (
    (instructions === undefined || typeof instructions === 'string' || isFunction(instructions)) &&
    (tools === undefined || isFunction(tools) || isIterable(tools)) &&
    (model === undefined || hasMethods('stream')(model)) &&
    (description === undefined || typeof description === 'string') &&
    (handOverTo === undefined ||
      (Array.isArray(handOverTo) && handOverTo.every((name) => typeof name === 'string')))
  )
}
