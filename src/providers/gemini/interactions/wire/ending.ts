import type { JsonValue } from '../../../../core/json/json.ts'
import type { Ending } from '../../../../model/events/assembler.ts'
import type { FinishReason } from '../../../../model/events/finish-reason.ts'
import type { Usage } from '../../../../model/events/model-event.ts'
import { asList, asObject, asText, asWord } from '../../../../model/wire/wire-value.ts'
import type { HistoryItem } from '../../../../records/history-item.ts'
import { addUsage } from '../../wire/add-usage.ts'
import { isCited } from './content.ts'
import { inSnakeCase, typeOf, type WireInteraction } from './wire.ts'

/** What a response said of its end, of all its requests together. */
export interface Told {
  readonly status: string | undefined
  readonly token: string | undefined
  readonly responseId: string | undefined
  readonly usage: Usage | undefined
}

export const NOTHING_TOLD: Told = {
  status: undefined,
  token: undefined,
  responseId: undefined,
  usage: undefined,
}

/** Adds what the next request of a long response, or its only one, says. Each counts its own tokens. */
export function toldBy(interaction: WireInteraction, earlier: Told = NOTHING_TOLD): Told {
  return {
    status: asWord(interaction.status) ?? earlier.status,
    token:
      interaction.status === 'requires_continuation'
        ? asWord(interaction.continuation_token)
        : undefined,
    responseId: asWord(interaction.id) ?? earlier.responseId,
    usage: addUsage(earlier.usage, usageOf(interaction.usage)),
  }
}

/** How the response ended, in our words. */
export function endingOf(told: Told, items: readonly HistoryItem[], grounded: boolean): Ending {
  const { status, responseId, usage } = told
  return {
    reason: reasonOf(told, items),
    ...(status !== undefined && { rawReason: status }),
    ...(responseId !== undefined && { responseId }),
    ...(usage !== undefined && { usage }),
    ...(grounded && { grounded }),
  }
}

/** With `queued` and `in_progress`, the interaction has not ended: it runs in the background. */
export function isOver(status: string | undefined): boolean {
  return status !== 'queued' && status !== 'in_progress'
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  incomplete: 'length',
  budget_exceeded: 'length',
}

function reasonOf({ status, token }: Told, items: readonly HistoryItem[]): FinishReason {
  // Without a token nothing can be continued: the limit of one request has cut it.
  if (status === 'requires_continuation') return token === undefined ? 'length' : 'pause'
  const hasCalls = items.some((item) => item.type === 'call' && item.executedBy === 'runner')
  if (status === 'requires_action') return hasCalls ? 'tools' : 'other'
  // A whole response that says nothing of its status was given back as finished.
  if (status === 'completed' || status === undefined) return hasCalls ? 'tools' : 'stop'
  return (Object.hasOwn(REASONS, status) && REASONS[status]) || 'other'
}

/**
 * True when a response uses pages, files or tools of the provider. It sends the steps of a search after the text
 * that uses them, so their position does not show what a call has seen.
 */
export function isGrounded(steps: readonly JsonValue[]): boolean {
  return steps.some((value) => {
    const step = asObject(value)
    const type = typeOf(step)
    if (type === 'function_call' || type === 'function_result') return false
    return /_(call|result)$/.test(type) || isCited(step?.['content'])
  })
}

/** Thoughts are billed as output, and what tools brought in as input. */
function usageOf(value: JsonValue | undefined): Usage | undefined {
  const usage = asObject(value)
  if (usage === undefined) return undefined
  const read = inSnakeCase(usage)
  const count = (name: string) => {
    const number = read[name]
    return typeof number === 'number' ? number : undefined
  }
  const input = count('total_input_tokens')
  if (input === undefined) return undefined
  const cached = count('total_cached_tokens')
  const thoughts = count('total_thought_tokens')
  return {
    inputTokens: input + (count('total_tool_use_tokens') ?? 0),
    outputTokens: (count('total_output_tokens') ?? 0) + (thoughts ?? 0),
    ...(cached !== undefined && { cachedInputTokens: cached }),
    ...(thoughts !== undefined && { reasoningTokens: thoughts }),
  }
}

/** The error of a failed response, wherever it stands. */
export function errorIn(interaction: WireInteraction): JsonValue {
  const [first] = asList(interaction.errors)
  const inStep = asList(interaction.steps).map((step) => asObject(asObject(step)?.['error']))
  const said = interaction.error ?? first ?? inStep.findLast((error) => error !== undefined)
  return said ?? { message: `its status is \`${asText(interaction.status)}\`` }
}
