import type { ToolCall } from '../../records/tool-call.ts'
import { Tool } from '../../tools/tool.ts'
import { type Fact, handOverNote } from '../log/fact.ts'

/** The name of the tool by which an agent hands the conversation over. */
export const HAND_OVER = 'hand_over'

/** An agent that others may hand over to. */
interface Target {
  readonly name: string
  readonly description?: string | undefined
}

/**
 * The tool of one agent. Its handler does nothing: the record of the call says who is active from then on. Every agent has
 * the same definition, so that a hand-over does not change the tools that the model has read about.
 */
export class HandOverTool extends Tool {
  readonly #allowed: readonly string[]

  /** `agents` are all that a runner's agents may hand over to, `allowed` those of this one. */
  constructor(agents: readonly Target[], allowed: readonly string[]) {
    const list = agents.map(({ name, description }) =>
      description === undefined ? `\`${name}\`` : `\`${name}\`: ${description}`,
    )
    super({
      name: HAND_OVER,
      description: `Hands the conversation over to another agent, who continues it from here and sees everything said so far. The agents are:\n${list.join('\n')}`,
      inputSchema: {
        type: 'object',
        properties: {
          to: { type: 'string', enum: agents.map(({ name }) => name) },
          message: { type: 'string', description: 'What the other agent should know or do.' },
        },
        required: ['to'],
        additionalProperties: false,
      },
      effect: 'read',
      trust: 'developer',
      repeat: false,
      handler: (args) => `The conversation is with \`${(args as { to: string }).to}\` now.`,
    })
    this.#allowed = allowed
  }

  /** Why the agent may not hand over with these arguments; undefined if it may. */
  refusal({ to }: { readonly to?: unknown }): string | undefined {
    if (this.#allowed.some((name) => name === to)) return undefined
    return `Refused: you may hand over to ${this.#allowed.map((name) => `\`${name}\``).join(', ')} only.`
  }
}

/** The note that is stored with the record of a hand-over call. */
export function handedOver(tool: Tool, record: ToolCall): readonly Fact[] {
  if (!(tool instanceof HandOverTool) || record.settlement !== 'ok') return []
  const { to } = (record.effectiveArgs ?? record.args) as { readonly to: string }
  return [handOverNote(record, to)]
}
