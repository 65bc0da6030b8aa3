import type {
  CallToolResult,
  ClientCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server'
import { checksum } from '../../core/checksum.ts'
import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ServedFrom, Telemetry } from '../../turn/events/telemetry.ts'
import type { TurnRunnerOptions } from '../../turn/options/runner-options.ts'
import type { TurnHandle } from '../../turn/turn-handle.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import type { ApprovalPolicy } from './agent-tool.ts'
import { canAnswer, decisionOf, elicitationOf } from './gate-questions.ts'
import { tellProgress } from './progress-notes.ts'
import type { ResultPlace } from './resources.ts'
import { servedResult } from './served-result.ts'
import { type McpRunnerOptions, newServedCall } from './served-runner.ts'
import { type CallState, signState } from './signed-state.ts'

/** What a server with tools is made of. */
export interface ServedScope extends ResultPlace, ApprovalPolicy {
  readonly tools: () => readonly Tool[]
  readonly runner: McpRunnerOptions
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
  readonly from: ServedFrom
}

const NOT_ALLOWED =
  'This call needs an approval that this server does not take from its clients. It was not run.'

const MAY_NOT_DECIDE = 'This client may not decide on this call. It was not run.'

const CANNOT_ASK = 'This call asks a question that the client cannot answer. It was not run.'

/** Where a call comes from, and what that client can do. */
export interface Caller {
  readonly ctx: ServerContext
  readonly capabilities: ClientCapabilities | undefined
}

/** Runs the calls of clients: each is a turn with one call, so that it has a record, a gate and an end. */
export class ServedCalls {
  readonly #scope: ServedScope
  readonly #runner: TurnRunner
  /** Ends calls that no client may decide on: that is no decision of a client, so `mayDecide` is not asked. */
  readonly #denier: TurnRunner
  /** The calls that run, by their conversations. */
  readonly #served = new Map<string, ServedCall>()

  constructor(scope: ServedScope) {
    this.#scope = scope
    const { store, spool, telemetry } = scope
    // A turn inside of the call, that of a sub-agent, is a turn like any other.
    const turn: Telemetry['turn'] = (begin) =>
      begin.isNested
        ? telemetry?.turn(begin)
        : telemetry?.served?.(this.#served.get(begin.conversation)?.from ?? {})
    const { mayDecide, ...given } = scope.runner
    const options: TurnRunnerOptions = {
      ...given,
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
    }
    this.#runner = new TurnRunner({ ...options, ...(mayDecide && { mayDecide }) })
    this.#denier = new TurnRunner(options)
  }

  /** Runs a new call. */
  async run(call: AskedCall, caller: Caller): Promise<object> {
    const conversation = newServedCall()
    const message = `A client calls \`${call.tool}\`.`
    const { signal } = caller.ctx.mcpReq
    try {
      return await this.#serve(conversation, call, caller, () =>
        this.#runner.run({ message, conversation, signal }),
      )
    } finally {
      // After its end: the store in memory drops the oldest remembered call, and must not drop one that runs.
      this.#scope.remember(conversation)
    }
  }

  /** Continues a call that waited for an answer of the client. */
  async resume(call: AskedCall, state: CallState, caller: Caller): Promise<object> {
    const { conversation } = state
    if (checksum(call.tool, call.args) !== state.call) {
      return failure('The answer belongs to another call. Nothing was run.')
    }
    const gate = await this.#scope.store.gate(conversation, state.gate)
    if (gate?.state !== 'pending') return failure('This question has been answered already.')
    const { inputResponses = {}, signal } = caller.ctx.mcpReq
    const answer: unknown = Object.hasOwn(inputResponses, gate.id) ? inputResponses[gate.id] : {}
    const decisions = [decisionOf(gate, answer, this.#scope.decidedBy)]
    try {
      return await this.#serve(conversation, call, caller, () =>
        this.#runner.resume({ conversation, decisions, signal }),
      )
    } catch (error) {
      if (!isBobbinError(error, 'E_DECISION_NOT_ALLOWED')) throw error
      return this.#deny(conversation, gate.id, MAY_NOT_DECIDE)
    }
  }

  async #serve(
    conversation: string,
    call: AskedCall,
    caller: Caller,
    start: () => TurnHandle,
  ): Promise<object> {
    this.#served.set(conversation, { call, from: fromOf(caller) })
    try {
      return await this.#ended(call, start(), caller)
    } finally {
      this.#served.delete(conversation)
    }
  }

  async #ended(call: AskedCall, turn: TurnHandle, caller: Caller): Promise<object> {
    const [outcome] = await Promise.all([turn, tellProgress(turn, caller.ctx)])
    const { conversation, gates, toolCalls } = outcome
    const [gate] = gates
    if (outcome.status === 'suspended' && gate !== undefined) {
      const request = elicitationOf(gate, this.#scope)
      if (request === undefined) return this.#deny(conversation, gate.id, NOT_ALLOWED)
      // The SDK then answers with the error that the protocol has for it.
      if (!canAnswer(request, caller.capabilities))
        await this.#deny(conversation, gate.id, CANNOT_ASK)
      const state = { conversation, gate: gate.id, call: checksum(call.tool, call.args) }
      const requestState = await signState(this.#scope.store, state)
      return { resultType: 'input_required', inputRequests: { [gate.id]: request }, requestState }
    }
    const record = toolCalls.at(-1)
    if (record === undefined) return failure(outcome.reason?.message ?? 'The call did not run.')
    return servedResult(record, conversation)
  }

  /** Ends a call whose gate no client may answer. */
  async #deny(conversation: string, gate: string, reason: string): Promise<CallToolResult> {
    const { decidedBy } = this.#scope
    const decisions = [{ gate, decidedBy, approve: false as const, reason }]
    await this.#denier.resume({ conversation, decisions })
    return failure(reason)
  }
}

/** Where the client is in its trace. It says so in `_meta`, and may say anything. */
function fromOf({ ctx: { mcpReq } }: Caller): ServedFrom {
  const { _meta: meta = {} } = mcpReq
  const { traceparent, tracestate } = meta as Readonly<Record<string, unknown>>
  return {
    requestId: String(mcpReq.id),
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(typeof tracestate === 'string' && { tracestate }),
  }
}

const failure = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
})

/** The spool of a store, or one in memory. */
export const spoolOf = (store: RunnerStore): SpoolStore => store.spool ?? memorySpool()
