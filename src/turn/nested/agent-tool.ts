import { Tool } from '../../tools/tool.ts'
import type { ToolOptions } from '../../tools/tool-options.ts'
import type { InheritedSettings } from '../call/inner-turn.ts'
import { type RunnerSettings, requirePrices } from '../options/runner-options.ts'

/** Refuses a limit of cost without a price for every model of the runner's sub-agents. */
export function requirePricesInside(settings: RunnerSettings): void {
  if (!Number.isFinite(settings.limits.cost)) return
  for (const tool of settings.tools) {
    const { models, prices } = AgentTool.settingsInside(tool, settings)
    requirePrices(models, prices)
  }
}

/** A tool whose handler runs a turn. It knows the settings of that turn, which may have its own store. */
export class AgentTool extends Tool {
  readonly #setUp: (outer: InheritedSettings) => RunnerSettings

  constructor(options: ToolOptions, setUp: (outer: InheritedSettings) => RunnerSettings) {
    super(options)
    this.#setUp = setUp
  }

  /**
   * The settings of the turns inside the calls of a tool. For any other tool, and for an agent whose settings are invalid,
   * these are the outer settings; the call itself reports invalid ones.
   */
  static settingsInside(tool: object | undefined, outer: InheritedSettings): RunnerSettings {
    const own = outer as RunnerSettings
    try {
      return tool !== undefined && #setUp in tool ? tool.#setUp(outer) : own
    } catch {
      return own
    }
  }
}
