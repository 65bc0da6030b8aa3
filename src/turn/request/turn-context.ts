import { BobbinError } from '../../core/error/error.ts'
import { syntheticIds } from '../../model/wire/synthetic-id.ts'
import { Memory } from '../../records/memory.ts'
import { Retrievable } from '../../records/retrievable.ts'
import type { RepeatGuard } from '../limits/repeat-guard.ts'
import type { DispatchContext } from './dispatch-context.ts'
import type { TurnRequest } from './turn-request.ts'
import type { VisibleCalls } from './visible-calls.ts'

/** The parts of a turn that its context shows. */
export interface TurnFacts
  extends Pick<
    DispatchContext,
    'context' | 'turnId' | 'conversation' | 'signal' | 'output' | 'cacheKey'
  > {
  readonly request: TurnRequest
  readonly visible: VisibleCalls
  readonly guard: RepeatGuard
  readonly secret: Uint8Array
  readonly iteration: () => number
  readonly agent: () => string | undefined
}

/** The context that executors and middleware get. Getters show the turn as it is now. */
export function turnContext(facts: TurnFacts): DispatchContext {
  const { context, turnId, conversation, signal, output, cacheKey } = facts
  const { request, visible, guard, secret } = facts
  return {
    context,
    conversation,
    turnId,
    signal,
    output,
    cacheKey,
    memories: request.memories,
    retrievables: request.retrievables,
    get instructions() {
      return request.instructions
    },
    get items() {
      return request.items
    },
    get iteration() {
      return facts.iteration()
    },
    get agent() {
      return facts.agent()
    },
    get tools() {
      return request.tools
    },
    get turnToolCalls() {
      return visible.calls
    },
    toolCallCount: (checksum) => guard.count(checksum),
    mintId: (place) => syntheticIds({ secret, scope: `${turnId}/${facts.iteration()}` })(place),
    addMemory: (memory) => {
      if (!Memory.isMemory(memory)) throw notOne('addMemory', 'Memory')
      request.memories.push(memory)
    },
    addRetrievable: (found) => {
      if (!Retrievable.isRetrievable(found)) throw notOne('addRetrievable', 'Retrievable')
      request.retrievables.push(found)
    },
  }
}

function notOne(method: string, name: string): BobbinError {
  const rule = `takes a ${name}: \`new ${name}({ … })\``
  return new BobbinError('E_INVALID_TURN_INPUT', `\`${method}\` ${rule}.`, { path: method, rule })
}
