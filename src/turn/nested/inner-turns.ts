import { conversationInside, nestedConversations } from '../../store/core/nested-conversations.ts'
import type { Gate, NewGateDecision } from '../../store/gate.ts'
import { originalPlace } from '../../store/rows/gate-row.ts'
import type { RunnerStore } from '../../store/store.ts'
import { mayRepeat } from '../../tools/tool-options.ts'
import { closeGate } from '../call/gate-policy.ts'
import type { InheritedSettings, InnerTurns, LeftInside, OuterTurn } from '../call/inner-turn.ts'
import type { ContentBus } from '../events/event-bus.ts'
import { EventBus } from '../events/event-bus.ts'
import { askStore } from '../limits/failure.ts'
import type { StartedState } from '../log/call-state.ts'
import type { Fact } from '../log/fact.ts'
import { finishOpenCalls } from '../loop/finish-open-calls.ts'
import { openTurn } from '../loop/open-turn.ts'
import type { Turn } from '../loop/turn.ts'
import type { RunnerSettings } from '../options/runner-options.ts'
import { AgentTool } from './agent-tool.ts'

/** Access to the turns inside the calls of a turn. */
export const innerTurns = (outer: OuterTurn): InnerTurns => ({
  site: (mayHaveRun, enter) => ({ outer, mayHaveRun, enter }),
  leftIn: (started, gates) => leftIn(outer, started, gates),
  sweep: (keep) => sweep(outer, keep),
})

/**
 * Whether a turn of the outer conversation started this one; undefined when it does not exist or is empty. The name alone
 * proves nothing: applications name conversations, and models name calls. A fork keeps the inner conversations of one that
 * was deleted, and a new one may have its name.
 */
export async function isNestedIn(
  store: RunnerStore,
  conversation: string,
  { origin, settings }: Pick<OuterTurn, 'origin' | 'settings'>,
): Promise<boolean | undefined> {
  const [first] = (await store.find({ conversation, kind: 'turn-start', limit: 1 })).entries
  if (first?.entry.kind === 'turn-start') {
    const { parent } = first.entry.data
    if (parent?.conversation !== origin.conversation) return false
    return (
      (await settings.store.get(parent.conversation, 'turn-start', parent.turnId)) !== undefined
    )
  }
  return ((await store.conversation(conversation))?.length ?? 0) > 0 ? false : undefined
}

/** The outermost conversation around a sub-agent's conversation; for any other conversation, itself. */
export async function outermostConversation(
  store: RunnerStore,
  conversation: string,
): Promise<string> {
  if (!conversation.includes('/')) return conversation
  const [first] = (await store.find({ conversation, kind: 'turn-start', limit: 1 })).entries
  const parent =
    first?.entry.kind === 'turn-start' ? first.entry.data.parent?.conversation : undefined
  // An outer conversation has a shorter name, so this ends; an import may have brought the inner one alone.
  const isAround = parent !== undefined && conversation.startsWith(`${parent}/`)
  if (!isAround || (await store.conversation(parent)) === undefined) return conversation
  return outermostConversation(store, parent)
}

/**
 * Whether calls of a turn took effect, or may have: they are in doubt, have no record although they started, or ran and
 * must not repeat. The record of a call may be missing because the store failed.
 */
export function mayHaveEffects({ log: { state }, settings: { tools } }: Turn): boolean {
  if (state.doubts.length > 0) return true
  for (const { at } of state.open.values()) if (at === 'started' || at === 'held') return true
  return state.records.some(({ settlement, executedBy, fromArtifactTool, tool: name }) => {
    if (settlement !== 'ok' || executedBy === 'provider' || fromArtifactTool) return false
    const tool = tools.get(name)
    // The effects of an agent's call are those of the calls inside it.
    return tool instanceof AgentTool || !mayRepeat(tool?.effect)
  })
}

function leftIn(
  outer: OuterTurn,
  { call, intent }: StartedState,
  gates: readonly Gate[],
): LeftInside {
  const settings = AgentTool.settingsInside(
    outer.settings.tools.get(call.item.tool),
    outer.settings,
  )
  const conversation = conversationInside(outer.origin.conversation, intent.idempotencyKey)
  const nested = gates.filter((gate) => originalPlace(gate) !== undefined)
  return {
    isHeldUp: () => isHeldUp(nested, settings),
    passOn: () => passOn(nested, settings),
    isDecided: nested.length === 0 ? undefined : nested.every(isDecided),
    abandon: () => abandonInside(outer, settings, conversation),
    leave: () => leaveInside(outer, settings, conversation),
  }
}

/** Whether a gate waits for a decision. The gate in the inner conversation counts, not its copy in the outer one. */
async function isHeldUp(gates: readonly Gate[], { store }: RunnerSettings): Promise<boolean> {
  for (const gate of gates) {
    if (gate.state !== 'pending') continue
    const there = await gateThere(gate, store)
    if ((there?.state ?? 'pending') === 'pending') return true
  }
  return false
}

/** Passes decisions on to the inner turn, in its own store. */
async function passOn(
  gates: readonly Gate[],
  { store, clock }: RunnerSettings,
): Promise<readonly Fact[]> {
  const closed: Fact[] = []
  for (const gate of gates) {
    const there = await gateThere(gate, store)
    // It is decided already if a process died between this step and the next.
    if (there?.state === 'pending') {
      const decision = decisionFrom(gate, clock.now())
      await askStore(() => store.decideGate(there.conversation, there.id, decision))
    }
    const isExpired = gate.state === 'expired'
    closed.push(closeGate(gate, isDecided(gate) ? 'consumed' : isExpired ? 'expired' : 'abandoned'))
  }
  return closed
}

async function gateThere(gate: Gate, store: RunnerStore): Promise<Gate | undefined> {
  const place = originalPlace(gate)
  return place && askStore(() => store.gate(place.conversation, place.gate))
}

/** Whether the gate was decided in time. */
const isDecided = ({ decision, state }: Gate): boolean =>
  decision !== undefined && state !== 'expired'

/** The decision for the inner gate; without one in time, it is denied. */
function decisionFrom(gate: Gate, now: number): NewGateDecision {
  const { decision } = gate
  if (decision === undefined || !isDecided(gate)) {
    return { verdict: 'denied', decidedBy: 'nobody', comment: 'Nobody decided in time.' }
  }
  const { verdict, decidedBy, args, value, error, comment, grant } = decision
  const isInTime = grant?.until === undefined || grant.until > now
  return {
    verdict,
    decidedBy,
    ...(args && { args }),
    ...(value !== undefined && { value }),
    ...(error !== undefined && { error }),
    ...(comment !== undefined && { comment }),
    ...(grant && isInTime && { grant }),
  }
}

/**
 * Ends the open calls of an inner turn that will not continue: each gets its record. Does nothing when there is no such
 * turn. Gives true when calls in it took effect, or may have.
 */
async function abandonInside(
  outer: OuterTurn,
  settings: RunnerSettings,
  conversation: string,
): Promise<boolean> {
  const { store } = settings
  const isInside = await askStore(() => isNestedIn(store, conversation, outer))
  if (isInside !== true) return false
  const content: ContentBus = new EventBus(() => {})
  const seed = { conversation, turnId: settings.ids(), parent: outer }
  const buses = { content, observed: outer.observed }
  const { turn, close } = await askStore(() => openTurn(settings, buses, seed, 'recover'))
  try {
    await finishOpenCalls(turn, 'abandon', turn.opened.end.is !== 'ended')
    const message = 'The outer conversation continued without this turn.'
    const end = { status: 'stopped', reason: { code: 'ABANDONED', message } } as const
    await turn.log.commit([{ kind: 'turn-end', end }])
    return mayHaveEffects(turn)
  } finally {
    await close()
  }
}

/**
 * The same after the outer call has its record, if the inner turn left anything open. Errors go to observers: they cannot
 * change the record.
 */
export async function leaveInside(
  outer: OuterTurn,
  settings: RunnerSettings,
  conversation: string,
  isLeft = false,
): Promise<void> {
  try {
    const isOpen = isLeft || (await settings.store.openGates(conversation)).length > 0
    if (isOpen) await abandonInside(outer, settings, conversation)
  } catch (error) {
    outer.observed.emit('error', { error, where: 'abandon' }, outer.origin)
  }
}

/**
 * Ends the inner turns of calls that have their records: a process died after the record and before it could do so. No
 * other turn would open those conversations again.
 */
async function sweep(outer: OuterTurn, keep: Iterable<StartedState>): Promise<void> {
  const { conversation } = outer.origin
  const waiting = new Set<string>()
  for (const { intent } of keep) {
    waiting.add(conversationInside(conversation, intent.idempotencyKey))
  }
  for (const settings of settingsInStores(outer.settings)) {
    const { store } = settings
    for (const id of await askStore(() => nestedConversations(store, conversation))) {
      if (waiting.has(id)) continue
      const isLeft = await askStore(() => diedInside(store, id))
      await leaveInside(outer, settings, id, isLeft)
    }
  }
}

/** Settings for each store that may hold inner turns: an agent may have its own store. */
function settingsInStores(outer: InheritedSettings): Iterable<RunnerSettings> {
  const own = AgentTool.settingsInside(undefined, outer)
  const found = new Map([[own.store, own]])
  for (const tool of outer.tools) {
    const inside = AgentTool.settingsInside(tool, outer)
    if (!found.has(inside.store)) found.set(inside.store, inside)
  }
  return found.values()
}

/** Whether the last turn of a conversation wrote no end. */
async function diedInside(store: RunnerStore, conversation: string): Promise<boolean> {
  const { length: from = 0 } = (await store.conversation(conversation)) ?? {}
  if (from === 0) return false
  for await (const { kind } of store.entries(conversation, { from })) return kind !== 'turn-end'
  return false
}
