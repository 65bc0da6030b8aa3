import { BobbinError } from '../../core/error/error.ts'
import type { Tool } from '../../tools/tool.ts'
import { ToolRegistry } from '../../tools/tool-registry.ts'
import type { Executor } from '../executor/executor.ts'
import { HAND_OVER, HandOverTool } from '../executor/hand-over.ts'
import { modelExecutor } from '../executor/model-executor.ts'
import type { AgentOptions } from './agent-options.ts'

/** What a turn is set up with. */
export interface Offer {
  readonly tools: ToolRegistry
  readonly instructions: string | undefined
}

/** An agent as a turn uses it: with what the runner itself offers before it. */
export interface Agent extends Offer {
  readonly name: string
  /** Who decides for it; the runner's own executor unless it has a model. */
  readonly executor?: Executor
}

/** The agents of a turn, and every tool that one of them has. */
export interface AgentOffers {
  readonly tools: ToolRegistry
  /** The first one begins. */
  readonly agents: ReadonlyMap<string, Agent>
}

type Agents = Readonly<Record<string, AgentOptions>>

/** The parts of agents that are the same in every turn. */
export interface FixedAgents {
  readonly executors: readonly Executor[]
  /** Puts together what each agent offers. */
  offers(runner: Offer, given: ReadonlyMap<string, GivenOffer>): AgentOffers
}

/** What an agent brings of its own. */
export interface GivenOffer {
  readonly tools: Iterable<Tool>
  readonly instructions: string | undefined
}

/** Checks the agents of a runner, and makes the parts of them that do not change. */
export function fixedAgents(agents: Agents): FixedAgents {
  const names = Object.keys(agents)
  const allowed = new Map(
    Object.entries(agents).map(([name, { handOverTo }]) => {
      const stray = handOverTo?.find((to) => !Object.hasOwn(agents, to) || to === name)
      if (stray !== undefined) {
        throw invalidAgents(
          `\`agents.${name}.handOverTo\` of \`TurnRunner\` names \`${stray}\`, which is not another agent. The agents are: ${names.join(', ')}.`,
        )
      }
      return [name, handOverTo ?? names.filter((other) => other !== name)] as const
    }),
  )
  const reached = new Set([...allowed.values()].flat())
  const targets = names
    .filter((name) => reached.has(name))
    .map((name) => ({ name, description: agents[name]?.description }))
  const fixed = new Map(
    Object.entries(agents).map(([name, { model }]) => {
      const own = allowed.get(name) ?? []
      const tool = own.length > 0 ? [new HandOverTool(targets, own)] : []
      return [name, { tool, ...(model && { executor: modelExecutor(model) }) }] as const
    }),
  )
  return {
    executors: [...fixed.values()].flatMap(({ executor }) => executor ?? []),
    offers: (runner, given) => {
      const all = new ToolRegistry(runner.tools)
      const offered = new Map<string, Agent>()
      for (const [name, { tool, executor }] of fixed) {
        const own = given.get(name)
        const tools = new ToolRegistry(runner.tools)
        for (const one of own?.tools ?? []) add(all, tools, one, name)
        for (const one of tool) {
          if (tools.has(HAND_OVER)) throw reserved()
          tools.register(one)
        }
        Object.freeze(tools)
        const texts = [runner.instructions, own?.instructions].filter((text) => text)
        const instructions = texts.length > 0 ? texts.join('\n\n') : undefined
        offered.set(name, { name, tools, instructions, ...(executor && { executor }) })
      }
      for (const { tool } of fixed.values()) all.merge(tool, 'keep')
      Object.freeze(all)
      return { tools: all, agents: offered }
    },
  }
}

/** Open calls are continued by name, under any active agent: a name means one tool. */
function add(all: ToolRegistry, tools: ToolRegistry, tool: Tool, agent: string): void {
  const known = all.get(tool.name)
  if (known !== undefined && known !== tool) {
    throw invalidAgents(
      `\`agents.${agent}.tools\` of \`TurnRunner\` has a tool named \`${tool.name}\`, and so has the runner or another agent. Rename one of them, or share one tool.`,
    )
  }
  if (known === undefined) all.register(tool)
  if (!tools.has(tool.name)) tools.register(tool)
}

/** The active agent, by its stored name; the first agent if that name is unknown. */
export function activeAgent(
  agents: ReadonlyMap<string, Agent> | undefined,
  name: string | undefined,
): Agent | undefined {
  return agents?.get(name ?? '') ?? agents?.values().next().value
}

const reserved = () =>
  invalidAgents(
    `\`TurnRunner\` has agents and a tool named \`${HAND_OVER}\`: that name belongs to the tool that hands over. Choose another.`,
  )

function invalidAgents(message: string): BobbinError {
  return new BobbinError('E_INVALID_RUNNER', message, { rule: message.slice(0, -1) })
}
