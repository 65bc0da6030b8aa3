import { EventBus } from './event-bus.ts'
import { doubtsIn } from './in-doubt.ts'
import { isNestedIn } from './nested-turn.ts'
import { openTurn } from './open-turn.ts'
import type { RunnerSettings } from './runner-options.ts'
import { ofStore } from './store-failure.ts'
import type { Turn } from './turn.ts'
import type { FunctionalEvents } from './turn-events.ts'

/**
 * Ends the calls that a turn inside a call left behind, when nobody will go on with it: each gets its record,
 * and what is in doubt is told. Does nothing when there was no such turn. Gives true when calls in it are in doubt.
 */
export async function abandonNested(
  turn: Turn,
  settings: RunnerSettings,
  conversation: string,
  finish: (inner: Turn) => Promise<unknown>,
): Promise<boolean> {
  const { observed } = turn
  const outer = turn.conversation.id
  const isInside = await ofStore(() => isNestedIn(settings.store, conversation, outer))
  if (isInside !== true) return false
  const content = new EventBus<FunctionalEvents>(() => {})
  const seed = { conversation, parent: turn }
  const opened = await ofStore(() => openTurn(settings, { content, observed }, seed))
  try {
    await finish(opened.turn)
    const message = 'The conversation around this turn went on without it.'
    const data = { status: 'stopped', reason: { code: 'ABANDONED', message } } as const
    await opened.turn.conversation.append([{ kind: 'turn-end', turnId: opened.turn.id, data }])
    return doubtsIn(opened.turn.conversation).length > 0
  } finally {
    await opened.close()
  }
}

/**
 * The same behind a call that has its record, where that call's turn left anything open. The record stands
 * whatever happens here: a store that fails is told to whoever watches.
 */
export async function abandonLeft(
  turn: Turn,
  settings: RunnerSettings,
  conversation: string,
  finish: (inner: Turn) => Promise<unknown>,
  isLeft = false,
): Promise<void> {
  try {
    const isOpen = isLeft || (await settings.store.openGates(conversation)).length > 0
    if (isOpen) await abandonNested(turn, settings, conversation, finish)
  } catch (error) {
    turn.observed.emit('error', { error, where: 'abandon' }, turn.origin)
  }
}
