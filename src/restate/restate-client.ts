import type { RestoreContext } from '../artifacts/restore-artifact.ts'
import { systemClock } from '../core/clock.ts'
import { requireOptions, wrongInput } from '../core/error/wrong-input.ts'
import { randomId } from '../core/ids.ts'
import type { JsonObject, JsonValue } from '../core/json/json.ts'
import { normalizeJson } from '../core/json/strict-json.ts'
import { Message } from '../records/message.ts'
import { Thought } from '../records/thought.ts'
import { ToolCall } from '../records/tool-call.ts'
import type { SpoolStore } from '../spool/spool-store.ts'
import { feedIteration } from '../store/feed/feed.ts'
import type { FeedEvent } from '../store/feed/feed-event.ts'
import { type FollowInput, restoreFrom } from '../store/feed/follow.ts'
import { followConversation } from '../store/feed/follow-conversation.ts'
import { chainEvents } from '../store/feed/follow-turn.ts'
import { liveFeed } from '../store/feed/live-feed.ts'
import type { StopInput } from '../store/feed/stop-turn.ts'
import type { HistoryPage, HistoryQuery, Store } from '../store/store.ts'
import type { TurnOutcome } from '../turn/limits/outcome.ts'
import {
  checkInput,
  checkRecover,
  checkRegenerate,
  checkResume,
  checkUndo,
} from '../turn/loop/begin-turn.ts'
import { queuedBody, submitted } from '../turn/loop/queued-input.ts'
import type {
  RecoverInput,
  RegenerateInput,
  ResumeInput,
  TurnInput,
  UndoInput,
} from '../turn/loop/turn-input.ts'
import type { TurnHandle } from '../turn/turn-handle.ts'
import { type AgentStatus, type EngineOutcome, outcomeFrom } from './engine-messages.ts'
import { askEngine, type EngineRequest, type Ingress } from './ingress.ts'

/** Where the engine is, and where records and results are read. */
export interface RestateClientOptions {
  /** Where the engine takes requests, such as `http://127.0.0.1:8080`. */
  readonly ingress: string
  /** The name that the agent was given. */
  readonly name: string
  /** The store of the workers. Iterating handles, `follow`, attachments and the contents of results need it. */
  readonly store?: Store
  /** Where larger results are, if the store does not bring its own spool. */
  readonly spool?: SpoolStore
  /** Headers of every request, such as an authorization. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long the engine may be out of reach before a request is given up; 60,000 ms unless given. */
  readonly retryTimeoutMs?: number
}

/** The input of `run`. `output` is a JSON Schema. */
export type RestateRunInput = Omit<TurnInput, 'whenBusy'> & {
  /** Starts the turn so many milliseconds later. The outcome is waited for all the same. */
  readonly delayMs?: number
}

/** The methods of a runner, for an agent that runs on other machines. Turns of one conversation wait for each other. */
export interface RestateClient {
  run(input: RestateRunInput): TurnHandle
  stream(input: RestateRunInput): TurnHandle
  resume(input: ResumeInput): TurnHandle
  /** `undo` of a regeneration is not available over the engine: undo the calls first. */
  regenerate(input: Omit<RegenerateInput, 'whenBusy'>): TurnHandle
  undo(input: UndoInput): TurnHandle
  recover(input: Pick<RecoverInput, 'conversation' | 'output' | 'signal'>): TurnHandle
  stop(input: StopInput): Promise<{ readonly turnId: string } | undefined>
  history(query: HistoryQuery): Promise<HistoryPage>
  status(input: { readonly conversation: string }): Promise<AgentStatus>
  follow(input: FollowInput): AsyncIterableIterator<FeedEvent, void>
}

const OPTIONS = ['ingress', 'name', 'store', 'spool', 'headers', 'retryTimeoutMs']

/** A client of agents that `restateAgent` serves. */
export function restateClient(options: RestateClientOptions): RestateClient {
  requireOptions('restateClient', options, OPTIONS)
  const { store, spool = store?.spool } = options
  const ingress = ingressOf(options)
  const context: RestoreContext = store
    ? restoreFrom(store, spool, undefined)
    : { spool: { read: async () => raise('to read results') } }

  const ask = <T>(request: EngineRequest) => askEngine<T>(ingress, request)
  const outcomeOf = async (request: EngineRequest): Promise<TurnOutcome> =>
    outcomeFrom(await ask<EngineOutcome>(request), context)

  const needStore = (): Store => {
    if (store !== undefined) return store
    return raise('to follow turns and send attachments')
  }
  const sourceOf = (conversation: string) => ({
    store: needStore(),
    conversation,
    live: () => liveFeed(needStore(), conversation),
    restore: restoreFrom(needStore(), spool, undefined),
    now: () => systemClock.now(),
  })

  /** The handle of a turn that runs elsewhere. `begin` gives the request, after what it checks. */
  function handleOf(
    place: { readonly conversation: string; readonly turnId?: string },
    begin: () => Promise<EngineRequest>,
  ): TurnHandle {
    const { conversation } = place
    const turnId = place.turnId ?? randomId()
    const asked = begin()
    const whereItBegins = store && asked.then(() => endOfLog(store, conversation))
    const outcome = asked.then(async (request) => {
      // The place has to be known before the turn writes.
      await whereItBegins?.catch(() => undefined)
      return outcomeOf(request)
    })
    return Object.assign(outcome, {
      outcome,
      turnId,
      conversation,
      // By its id: while this turn waits for its place, another one runs.
      abort: () => void client.stop(place).catch(() => undefined),
      [Symbol.asyncIterator]() {
        outcome.catch(() => {})
        return feedIteration(async function* (signal) {
          const source = sourceOf(conversation)
          const { length, chain } = (await whereItBegins) ?? { length: 0, chain: undefined }
          const first = place.turnId ?? chain ?? turnId
          yield* chainEvents(source, { first, after: length, over: outcome }, signal)
          if (!signal.aborted) await outcome
        })
      },
    })
  }

  const client: RestateClient = {
    run(input) {
      const { delayMs, ...turn } = Object(input) as RestateRunInput
      const { conversation = randomId(), turnId = randomId() } = turn
      return handleOf({ conversation, turnId }, async () => {
        const { context: about } = checkInput({ ...turn, conversation, turnId })
        const hasMedia = (turn.attachments ?? []).length > 0
        const place = hasMedia ? (spool ?? needStore().spool) : undefined
        if (hasMedia && place === undefined) {
          throw wrongInput('restateClient', 'spool', 'must be given to send attachments')
        }
        const body = queuedBody(await submitted({ ...turn, context: about }, place as SpoolStore))
        const request = requestOf(turn, { conversation, handler: 'run', key: turnId })
        const full = { ...request, body: { turnId, body, ...outputOf(turn.output) } }
        if (delayMs !== undefined) {
          if (!(delayMs >= 0)) throw wrongInput('run', 'delayMs', 'must be a number from 0 on')
          await ask({ ...full, delayMs })
        }
        return full
      })
    },
    stream: (input) => client.run(input),
    resume: (input) =>
      handleOf({ conversation: input?.conversation }, async () => {
        checkResume(input)
        const { conversation, decisions, output } = input
        const request = requestOf(input, { conversation, handler: 'resume', key: randomId() })
        return { ...request, body: { decisions, ...outputOf(output) } }
      }),
    regenerate(input) {
      const { conversation, turnId = randomId() } = Object(input) as RegenerateInput
      return handleOf({ conversation, turnId }, async () => {
        checkRegenerate({ ...input, turnId })
        const { message = '', redoEffects, output } = input
        const place =
          (input.attachments ?? []).length > 0 ? (spool ?? needStore().spool) : undefined
        const wished = { ...input, message, context: input.context as JsonValue | undefined }
        const about = await submitted(wished, place as SpoolStore)
        const request = requestOf(input, { conversation, handler: 'regenerate', key: turnId })
        const redo = redoEffects === undefined ? {} : { redoEffects }
        return {
          ...request,
          body: { turnId, body: queuedBody(about), ...redo, ...outputOf(output) },
        }
      })
    },
    undo: (input) =>
      handleOf({ conversation: input?.conversation }, async () => {
        checkUndo(input)
        const { conversation, signal: _, ...body } = input
        const request = requestOf(input, { conversation, handler: 'undo', key: randomId() })
        return { ...request, body }
      }),
    recover: (input) =>
      handleOf({ conversation: input?.conversation }, async () => {
        checkRecover(input)
        const { conversation, output } = input
        const request = requestOf(input, { conversation, handler: 'recover', key: randomId() })
        return { ...request, body: outputOf(output) }
      }),
    async stop(input) {
      const { conversation, ...body } = placed('stop', input)
      const given = await ask<{ turnId: string } | null>({ conversation, handler: 'stop', body })
      return given ?? undefined
    },
    async history(query) {
      placed('history', query)
      if (store !== undefined) return store.history(query)
      const { conversation, ...body } = query
      const page = await ask<{ items: JsonObject[]; before?: string }>({
        conversation,
        handler: 'history',
        body,
      })
      return { ...page, items: page.items.map((json) => recordFrom(json)) }
    },
    async status(input) {
      const { conversation } = placed('status', input)
      return ask({ conversation, handler: 'status' })
    },
    follow: (input) => followConversation(needStore(), { ...input, ...(spool && { spool }) }),
  }
  return client
}

function raise(why: string): never {
  throw wrongInput('restateClient', 'store', `must be given ${why}`)
}

/** Refuses an input without a conversation. */
function placed<T extends { readonly conversation: string }>(of: string, input: T): T {
  const { conversation } = Object(input) as Partial<T>
  if (typeof conversation === 'string' && conversation !== '') return input
  throw wrongInput(of, 'conversation', 'must be the name of a conversation')
}

/** Where the log ends, and the first turn of its last chain. */
async function endOfLog(store: Store, conversation: string) {
  const length = (await store.conversation(conversation))?.length ?? 0
  if (length === 0) return { length, chain: undefined }
  for await (const { turnId } of store.entries(conversation, { from: length })) {
    const start = await store.get(conversation, 'turn-start', turnId)
    return { length, chain: start?.data.continues ?? turnId }
  }
  return { length, chain: undefined }
}

const requestOf = (
  input: { signal?: AbortSignal | null },
  request: EngineRequest,
): EngineRequest => (input.signal ? { ...request, signal: input.signal } : request)

/** The schema of an answer goes over the engine as JSON. */
function outputOf(output: unknown): { readonly output?: JsonObject } {
  if (output === undefined) return {}
  const path = { root: 'output', code: 'E_INVALID_TURN_INPUT' } as const
  return { output: normalizeJson(output, path) as JsonObject }
}

/** A record of a page of history, by what it has. */
function recordFrom(json: JsonObject): Message | Thought | ToolCall {
  if (json['tool'] !== undefined && json['settlement'] !== undefined) return ToolCall.fromJSON(json)
  return json['role'] === undefined ? Thought.fromJSON(json) : Message.fromJSON(json)
}

function ingressOf({
  ingress,
  name,
  headers = {},
  retryTimeoutMs = 60_000,
}: RestateClientOptions): Ingress {
  const isUrl = typeof ingress === 'string' && URL.canParse(ingress)
  if (!isUrl || !/^https?:/.test(ingress)) {
    throw wrongInput(
      'restateClient',
      'ingress',
      'must be an address, such as `http://127.0.0.1:8080`',
    )
  }
  if (typeof name !== 'string' || name === '' || name.includes('/')) {
    throw wrongInput('restateClient', 'name', 'must be the name of the agent')
  }
  if (!(retryTimeoutMs >= 0)) {
    throw wrongInput(
      'restateClient',
      'retryTimeoutMs',
      'must be a number of milliseconds from 0 on',
    )
  }
  requireOptions('restateClient', headers)
  return { url: ingress.replace(/\/+$/, ''), name, headers, retryTimeoutMs }
}
