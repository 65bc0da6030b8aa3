import type { Usage } from '../../../model/events/model-event.ts'

/** What two requests of one response cost together. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const both = (name: 'cachedInputTokens' | 'reasoningTokens') => {
    const isCounted = one[name] !== undefined || other[name] !== undefined
    return isCounted && { [name]: (one[name] ?? 0) + (other[name] ?? 0) }
  }
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...both('cachedInputTokens'),
    ...both('reasoningTokens'),
  }
}
