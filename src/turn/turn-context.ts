import { BobbinError } from '../core/error.ts'
import { syntheticIds } from '../model/synthetic-id.ts'
import { Memory } from '../records/memory.ts'
import { Retrievable } from '../records/retrievable.ts'
import type { ToolRegistry } from '../tools/tool-registry.ts'
import type { Conversation } from './conversation.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { RepeatGuard } from './repeat-guard.ts'
import type { TurnRequest } from './turn-request.ts'
import { visibleCalls, visibleTools } from './visible-tools.ts'

/** What the context of a turn tells of. */
export interface TurnFacts {
  readonly turnId: string
  readonly signal: AbortSignal
  readonly output: DispatchContext['output']
  readonly conversation: Conversation
  readonly request: TurnRequest
  readonly guard: RepeatGuard
  readonly secret: Uint8Array
  /** The runner's own tools. */
  readonly tools: ToolRegistry
  readonly iteration: () => number
}

const LIVE = Symbol('live')

/** What changes while the turn goes on. */
interface Live extends Pick<TurnFacts, 'conversation' | 'request' | 'iteration'> {
  readonly tools: () => ToolRegistry
}

type Context = DispatchContext & { readonly [LIVE]: Live }

const getter = <T>(get: (this: Context) => T) => ({ get, enumerable: true, configurable: true })

/**
 * The context's own properties, so that copies have them, yet the same getters for all turns: an engine
 * gives objects that have getters of their own a class of their own, and that keeps all they refer to in
 * memory until the next full collection.
 */
const GETTERS = {
  instructions: getter(function () {
    return this[LIVE].request.instructions
  }),
  items: getter(function () {
    return this[LIVE].request.items
  }),
  iteration: getter(function () {
    return this[LIVE].iteration()
  }),
  tools: getter(function () {
    return this[LIVE].tools()
  }),
  turnToolCalls: getter(function () {
    return visibleCalls(this[LIVE].conversation)
  }),
}

/** What an executor and middleware are given of a turn. */
export function turnContext(facts: TurnFacts): DispatchContext {
  const { turnId, signal, output, conversation, request, guard, secret, iteration } = facts
  const tools = visibleTools(facts.tools, conversation)
  const live: Live = { conversation, request, iteration, tools }
  const context = {
    conversation: conversation.id,
    turnId,
    signal,
    memories: request.memories,
    retrievables: request.retrievables,
    output,
    toolCallCount: (checksum) => guard.count(checksum),
    mintId: (place) => syntheticIds({ secret, scope: `${turnId}/${iteration()}` })(place),
    addMemory: (memory) => {
      if (!Memory.isMemory(memory)) throw notOne('addMemory', 'Memory')
      request.memories.push(memory)
    },
    addRetrievable: (found) => {
      if (!Retrievable.isRetrievable(found)) throw notOne('addRetrievable', 'Retrievable')
      request.retrievables.push(found)
    },
  } satisfies Omit<DispatchContext, keyof typeof GETTERS>
  Object.defineProperty(context, LIVE, { value: live })
  return Object.defineProperties(context, GETTERS) as unknown as Context
}

function notOne(method: string, name: string): BobbinError {
  const rule = `takes a ${name}: \`new ${name}({ … })\``
  return new BobbinError('E_INVALID_TURN_INPUT', `\`${method}\` ${rule}.`, { path: method, rule })
}
