import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import { checksum } from '../../core/checksum.ts'
import { brief } from '../../core/error/cut-text.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Telemetry } from '../../turn/events/telemetry.ts'
import type { TurnOutcome } from '../../turn/limits/outcome.ts'
import type { TurnHandle } from '../../turn/turn-handle.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { isJsonObject } from '../client/safe-schema.ts'
import type { ApprovalPolicy } from './agent-tool.ts'
import { decisionOf, elicitationOf } from './gate-questions.ts'
import type { ResultPlace } from './resources.ts'
import { servedResult } from './served-result.ts'
import { type CallState, signState } from './signed-state.ts'

/** What a server with tools is made of. */
export interface ServedScope extends ResultPlace, ApprovalPolicy {
  readonly tools: () => readonly Tool[]
  readonly telemetry: Telemetry | undefined
  /** Forgets the oldest calls of a store in memory. */
  readonly remember: (conversation: string) => void
}

/** A call as a client asks for it. */
interface AskedCall {
  readonly tool: string
  readonly args: JsonObject
}

interface ServedCall {
  readonly call: AskedCall
  /** Where the client is in its trace, among other things that it says. */
  readonly from: object
}

const NOT_ALLOWED =
  'This call needs an approval that this server does not take from its clients. It was not run.'

/** Runs the calls of clients: each is a turn with one call, so that it has a record, a gate and an end. */
export class ServedCalls {
  readonly #scope: ServedScope
  readonly #runner: TurnRunner
  /** The calls that run, by their conversations. */
  readonly #served = new Map<string, ServedCall>()

  constructor(scope: ServedScope) {
    this.#scope = scope
    const { store, spool, telemetry } = scope
    const turn: Telemetry['turn'] = ({ conversation }) =>
      telemetry?.served?.(this.#served.get(conversation)?.from ?? {})
    this.#runner = new TurnRunner({
      store,
      spool,
      tools: () => scope.tools(),
      ...(telemetry && { telemetry: { turn } }),
      executor: async ({ conversation, turnToolCalls }) => {
        const call = this.#served.get(conversation)?.call
        return turnToolCalls.length > 0 || call === undefined
          ? { answer: 'Done.' }
          : { calls: [call] }
      },
    })
  }

  /** Runs a new call. */
  async run(call: AskedCall, ctx: ServerContext): Promise<object> {
    const conversation = `mcp-${crypto.randomUUID()}`
    this.#scope.remember(conversation)
    const message = `A client calls \`${call.tool}\`.`
    const { signal } = ctx.mcpReq
    return this.#serve(conversation, call, ctx, () =>
      this.#runner.run({ message, conversation, signal }),
    )
  }

  /** Continues a call that waited for an answer of the client. */
  async resume(call: AskedCall, state: CallState, ctx: ServerContext): Promise<object> {
    const { conversation } = state
    if (checksum(call.tool, call.args) !== state.call) {
      return failure('The answer belongs to another call. Nothing was run.')
    }
    const gate = await this.#scope.store.gate(conversation, state.gate)
    if (gate?.state !== 'pending') return failure('This question has been answered already.')
    const { inputResponses = {} } = ctx.mcpReq
    const answer: unknown = Object.hasOwn(inputResponses, gate.id) ? inputResponses[gate.id] : {}
    const decisions = [decisionOf(gate, answer, this.#scope.decidedBy)]
    const { signal } = ctx.mcpReq
    return this.#serve(conversation, call, ctx, () =>
      this.#runner.resume({ conversation, decisions, signal }),
    )
  }

  async #serve(
    conversation: string,
    call: AskedCall,
    ctx: ServerContext,
    start: () => TurnHandle,
  ): Promise<object> {
    const { _meta: from = {} } = ctx.mcpReq
    this.#served.set(conversation, { call, from })
    try {
      return await this.#ended(call, start(), ctx)
    } finally {
      this.#served.delete(conversation)
    }
  }

  async #ended(call: AskedCall, turn: TurnHandle, ctx: ServerContext): Promise<object> {
    const [outcome] = await Promise.all([turn, tellProgress(turn, ctx)])
    const { conversation, gates, toolCalls } = outcome
    const [gate] = gates
    if (outcome.status === 'suspended' && gate !== undefined) {
      const request = elicitationOf(gate, this.#scope)
      if (request === undefined) return this.#deny(outcome, gate.id)
      const state = { conversation, gate: gate.id, call: checksum(call.tool, call.args) }
      const requestState = await signState(this.#scope.store, state)
      return { resultType: 'input_required', inputRequests: { [gate.id]: request }, requestState }
    }
    const record = toolCalls.at(-1)
    if (record === undefined) return failure(outcome.reason?.message ?? 'The call did not run.')
    return servedResult(record, conversation)
  }

  /** Ends a call whose gate no client may answer. */
  async #deny({ conversation }: TurnOutcome, gate: string): Promise<CallToolResult> {
    const { decidedBy } = this.#scope
    const decisions = [{ gate, decidedBy, approve: false as const, reason: NOT_ALLOWED }]
    await this.#runner.resume({ conversation, decisions })
    return failure(NOT_ALLOWED)
  }
}

const failure = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
})

/** Passes the progress of handlers on to a client that wants it. */
async function tellProgress(turn: TurnHandle, { mcpReq }: ServerContext): Promise<void> {
  const { _meta: meta } = mcpReq
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return
  let count = 0
  try {
    for await (const event of turn) {
      if (event.type !== 'progress') continue
      count += 1
      const params = { progressToken, ...progressOf(event.update, count) }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
  } catch {
    // The outcome has the error.
  }
}

function progressOf(update: unknown, count: number): object {
  if (isJsonObject(update) && typeof update['progress'] === 'number') {
    const { progress, total, message } = update
    return {
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message: brief(message, 500) }),
    }
  }
  const message = typeof update === 'string' ? update : JSON.stringify(update)
  return { progress: count, message: brief(message, 500) }
}

/** The spool of a store, or one in memory. */
export const spoolOf = (store: RunnerStore): SpoolStore => store.spool ?? memorySpool()
