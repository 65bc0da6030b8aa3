import { systemClock } from '../../core/clock.ts'
import { isObject } from '../../core/error/wrong-input.ts'
import type { SpooledArtifactConstructor } from '../../spool/artifact.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { conversationId, memberOf } from '../rows/store-input.ts'
import type { RunnerStore } from '../store.ts'
import { invalidInput } from '../store-errors.ts'
import { type FeedSource, feedIteration } from './feed.ts'
import type { FeedEvent } from './feed-event.ts'
import { type FollowInput, followFeed, restoreFrom } from './follow.ts'
import { liveFeed } from './live-feed.ts'

/** What to follow, and how its results are read. */
export interface FollowConversationInput extends FollowInput {
  /** Where larger results are; the store's own spool unless given. */
  readonly spool?: Pick<SpoolStore, 'read'>
  /** Artifact classes of the application. */
  readonly artifacts?: readonly SpooledArtifactConstructor[]
}

/** Follows a conversation without a runner, like `runner.follow`. */
export function followConversation(
  store: RunnerStore,
  input: FollowConversationInput,
): AsyncIterableIterator<FeedEvent, void> {
  return feedIteration((signal) => {
    const { spool, artifacts, ...follow } = Object(input) as FollowConversationInput
    return followChecked(isObject(input) ? follow : input, signal, (conversation) => {
      requireStore(store)
      return {
        store,
        conversation,
        live: () => liveFeed(store, conversation),
        restore: restoreFrom(store, spool, artifacts),
        now: () => systemClock.now(),
      }
    })
  })
}

export function requireStore(store: RunnerStore): void {
  const isStore = isObject(store) && typeof store.conversation === 'function'
  if (!isStore) throw invalidInput('store', 'must be a store, such as `memoryStore()`')
}

const MEMBERS = ['conversation', 'after', 'live', 'signal']

/** Checks the input at the first `next`, and follows. */
export async function* followChecked(
  input: FollowInput,
  left: AbortSignal,
  sourceOf: (conversation: string) => FeedSource,
): AsyncGenerator<FeedEvent, void> {
  const { conversation, live, signal, ...rest } = memberOf(input, 'input')
  const stray = Object.keys(input).find((name) => !MEMBERS.includes(name))
  if (stray !== undefined) throw invalidInput(stray, `is not known: use ${MEMBERS.join(', ')}`)
  if (live !== undefined && typeof live !== 'boolean') {
    throw invalidInput('live', 'must be true or false, or be left out')
  }
  if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) {
    throw invalidInput('signal', 'must be an AbortSignal, or be left out')
  }
  const source = sourceOf(conversationId(conversation))
  const end = signal ? AbortSignal.any([signal, left]) : left
  yield* followFeed(source, { ...rest, ...(live !== undefined && { live }) }, end)
}
