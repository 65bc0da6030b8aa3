import { sha256Hex } from '#hash'
import type { TrustTier } from '../core/trust.ts'
import type { Gate } from '../store/gate.ts'
import type { Store } from '../store/store.ts'
import { isConversationName } from '../store/store-input.ts'
import type { Tool } from '../tools/tool.ts'
import type { RunnerSettings } from './runner-options.ts'
import type { Turn } from './turn.ts'

/** What a call tells the turn that runs inside it, and what that turn tells back. */
export interface NestedLink {
  readonly parent: Turn
  /** Decisions that the inner turn waits for; the call stays open then. */
  gates: readonly Gate[]
  /** The least trusted content that the inner turn has seen. */
  trust: TrustTier
  /** Ends what the inner turn left open: nothing as long as it runs. Absent where there is none. */
  abandon: (() => Promise<void> | undefined) | undefined
  /** True once the call has its record: nobody goes on with the inner turn any more. */
  isSettled: boolean
  /** True from when an inner turn begins: it winds itself up when it is told to, and is waited for. */
  isTurn: boolean
  /** Whether calls of the inner turn ended in doubt. */
  hasDoubts: boolean
  /** Ends the wait for an inner turn that was told to stop. */
  grace: ReturnType<typeof setTimeout> | undefined
}

/** A call's own signal is the token by which a turn inside its handler finds the turn around it. */
const links = new WeakMap<AbortSignal, NestedLink>()

/** Makes a turn findable from inside the call with this signal. */
export function linkCall(parent: Turn, signal: AbortSignal): NestedLink {
  const link: NestedLink = {
    parent,
    gates: [],
    trust: 'developer',
    abandon: undefined,
    isSettled: false,
    isTurn: false,
    hasDoubts: false,
    grace: undefined,
  }
  links.set(signal, link)
  return link
}

/**
 * The conversation of the turn inside a call: the call's key, with a digest in it where a store would not take
 * it for a name, because models name calls. It begins with the outer one's name, by which a store finds it.
 */
export function conversationInside(outer: string, key: string): string {
  return isConversationName(key) ? key : `${outer}/${sha256Hex(key)}`
}

/** How the turns inside the calls of a tool are set up: they may have a store of their own. */
const setups = new WeakMap<Tool, (outer: RunnerSettings) => RunnerSettings>()

/** Makes known how the turns inside the calls of a tool are set up. */
export function setUpInside(tool: Tool, setUp: (outer: RunnerSettings) => RunnerSettings): void {
  setups.set(tool, setUp)
}

/**
 * The settings of the turns inside the calls of a tool; the outer ones where nobody knows of others, or where no turn
 * can begin with them, which its call finds out by itself.
 */
export function settingsInside(tool: Tool | undefined, outer: RunnerSettings): RunnerSettings {
  try {
    return (tool && setups.get(tool)?.(outer)) ?? outer
  } catch {
    return outer
  }
}

/**
 * Whether a conversation was begun by a turn inside `parent`; nothing when there is none, or nothing in it.
 * A name alone says nothing: applications name conversations, and models name calls.
 */
export async function isNestedIn(
  store: Store,
  conversation: string,
  parent: string,
): Promise<boolean | undefined> {
  const [first] = (await store.find({ conversation, kind: 'turn-start', limit: 1 })).entries
  if (first?.entry.kind === 'turn-start') return first.entry.data.parent?.conversation === parent
  return ((await store.conversation(conversation))?.length ?? 0) > 0 ? false : undefined
}

/** The turn around the call with this signal. */
export function linkOf(signal: AbortSignal): NestedLink | undefined {
  return links.get(signal)
}
