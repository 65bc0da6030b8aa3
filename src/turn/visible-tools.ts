import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import type { ToolCall } from '../records/tool-call.ts'
import { ToolRegistry } from '../tools/tool-registry.ts'
import type { Conversation } from './conversation.ts'

/** How many of the newest calls a request offers to artifact tools. */
const VISIBLE_CALLS = 64

/** The calls that are visible in a request, newest last; a copy, which whoever asks may sort or cut. */
export function visibleCalls({ shownCalls }: Conversation): readonly ToolCall[] {
  return shownCalls.slice(-VISIBLE_CALLS)
}

const newest = (calls: readonly ToolCall[]) =>
  calls.length > VISIBLE_CALLS ? calls.slice(-VISIBLE_CALLS) : calls

/**
 * The tools on offer: the runner's own, and artifact tools while something is shown as a handle. They are
 * forged anew only when there are other results to read; answers of artifact tools are none, so that a long
 * search never pushes out what it searches.
 */
export function visibleTools(own: ToolRegistry, conversation: Conversation): () => ToolRegistry {
  let forgedFrom: readonly ToolCall[] = []
  let forgedAt = -1
  let tools = own
  return () => {
    const { artifactCalls } = conversation
    if (conversation.handles.size === 0) return own
    if (forgedAt !== artifactCalls.length || forgedFrom !== artifactCalls) {
      forgedAt = artifactCalls.length
      forgedFrom = artifactCalls
      const forged = SpooledArtifact.forgeTools({ turnToolCalls: newest(artifactCalls) })
      tools = new ToolRegistry(own).merge(forged)
      Object.freeze(tools)
    }
    return tools
  }
}
