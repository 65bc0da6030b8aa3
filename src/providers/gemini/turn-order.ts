import type { Content } from '@google/genai'
import type { JoinRule } from '../../model/joined-entries.ts'

/**
 * The order that the wire asks for: a turn with calls comes right behind a person's turn or behind
 * results, so other turns of the model's right before it become part of it.
 */
export const TURNS: JoinRule<Content> = {
  joins: (turn, earlier) => earlier.role === 'model' && holdsCall(turn),
  merge: (turns) => ({ role: 'model', parts: turns.flatMap(({ parts = [] }) => parts) }),
}

/** True for a turn that asks the runner for something. */
export function holdsCall({ parts = [] }: Content): boolean {
  return parts.some((part) => part.functionCall !== undefined)
}
