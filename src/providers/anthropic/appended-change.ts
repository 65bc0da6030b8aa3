import type { JsonObject } from '../../core/json/json.ts'
import { type AppendedChange, CHANGED, type SayChange } from '../../model/appended-changes.ts'
import type { AppendTarget } from '../../model/provider-definition.ts'
import { isAt } from '../../model/wire/is-at.ts'
import { asList, asObject } from '../../model/wire/wire-value.ts'
import { toolParam } from './request.ts'
import { API, type MessageParam } from './wire/wire.ts'

/**
 * The first version of each kind of model that takes system messages between others. Sonnet 5 does not; a model whose
 * name is not known here gets none.
 */
const FIRST: Readonly<Record<string, number>> = {
  fable: 5,
  haiku: 5.5,
  mythos: 5,
  opus: 4.8,
  sonnet: 5.5,
}

/** Whether a model takes system messages between others, by its name. */
function takesSystemMessages(model: string): boolean {
  const [, kind = '', major, minor = '0'] =
    /claude-([a-z]+)-(\d+)(?:[-.](\d)(?!\d))?/i.exec(model) ?? []
  const first = Object.hasOwn(FIRST, kind) ? FIRST[kind] : undefined
  return first !== undefined && Number(`${major}.${minor}`) >= first
}

/** Changes as system messages, for models and hosts that take them. */
export function appends({ model, endpoint, appends: isTold }: AppendTarget): SayChange | undefined {
  const isKnown = isAt(endpoint, 'anthropic.com') && takesSystemMessages(model)
  return (isTold ?? isKnown) ? say : undefined
}

function say({ instructions, added, restored, removed, isBare }: AppendedChange) {
  // The wire may want a list of tools that the changes refer to.
  if (isBare && added.length + restored.length > 0) return undefined
  const content = [
    ...(instructions ? [{ type: 'text', text: `${CHANGED}\n\n${instructions}` }] : []),
    ...removed.map((name) => ({ type: 'tool_removal', tool: { type: 'tool_reference', name } })),
    ...restored.map((name) => ({ type: 'tool_addition', tool: { type: 'tool_reference', name } })),
    ...added.map((tool) => ({
      type: 'tool_addition',
      tool: { type: 'tool_definition', definition: { ...toolParam(tool) } },
    })),
  ]
  const value = { role: 'system', content } as unknown as JsonObject
  return [{ type: 'raw', api: API, role: 'user', value } as const]
}

/** The betas that a request with changes of tools needs. */
export function betasFor(messages: readonly MessageParam[]): readonly string[] {
  const tools = messages.flatMap(({ role, content }): readonly JsonObject[] => {
    if (role !== 'system' || typeof content === 'string') return []
    const blocks = asList(content)
    return blocks.flatMap((block): JsonObject[] => {
      const tool = asObject(asObject(block)?.['tool'])
      return tool === undefined ? [] : [tool]
    })
  })
  const isInline = ({ type }: JsonObject) => type === 'tool_definition'
  return [
    ...(tools.some(isInline) ? ['inline-tools-2026-09-15'] : []),
    ...(tools.some((tool) => !isInline(tool)) ? ['mid-conversation-tool-changes-2026-07-01'] : []),
  ]
}
