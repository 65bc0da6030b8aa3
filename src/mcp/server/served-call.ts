import type {
  CallToolResult,
  ClientCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server'
import { checksum } from '../../core/checksum.ts'
import { systemClock } from '../../core/clock.ts'
import { isBobbinError } from '../../core/error/error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import type { Gate } from '../../store/gate.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ServedFrom, Telemetry } from '../../turn/events/telemetry.ts'
import type { TurnRunnerOptions } from '../../turn/options/runner-options.ts'
import type { TurnHandle } from '../../turn/turn-handle.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { forClient } from './agent-tool.ts'
import {
  type ApprovalPolicy,
  canAnswer,
  decisionOf,
  elicitationOf,
  isUnshown,
  refusalOf,
  unshownText,
} from './gate-questions.ts'
import { tellProgress } from './progress-notes.ts'
import { type ResultPlace, settledCall } from './resources.ts'
import type { RunningCalls } from './running-calls.ts'
import { servedResult } from './served-result.ts'
import { type McpRunnerOptions, newServedCall } from './served-runner.ts'
import { type CallState, signState } from './signed-state.ts'

/** What a server with tools is made of. */
export interface ServedScope extends ResultPlace, ApprovalPolicy {
  readonly tools: () => readonly Tool[]
  readonly runner: McpRunnerOptions
  readonly telemetry: Telemetry | undefined
  readonly running: RunningCalls
  /** Lets a store in memory forget the oldest calls. `since` is when the oldest call began that still runs. */
  readonly remember: (conversation: string, since: number) => void
}

/** A call as a client asks for it. */
interface AskedCall {
  readonly tool: string
  readonly args: JsonObject
}

interface ServedCall {
  readonly call: AskedCall
  readonly from: ServedFrom
  /** When it began. */
  readonly since: number
}

const CANNOT_ASK = 'This call asks a question that the client cannot answer. It was declined.'
const MAY_NOT_DECIDE = 'This client may not decide on this call. It was not run.'
const STILL_RUNS = 'This question has been answered already, and its call still runs.'
const EXPIRED = 'This question was not answered in time. The call has ended.'
const IN_DOUBT =
  'This question has been answered already, and its call has no result: it is in doubt whether it took effect. Do not repeat it blindly; check first.'

/** Where a call comes from, and what that client can do. */
export interface Caller {
  readonly ctx: ServerContext
  readonly capabilities: ClientCapabilities | undefined
}

/** Runs the calls of clients: each is a turn with one call, so that it has a record, a gate and an end. */
export class ServedCalls {
  readonly #scope: ServedScope
  readonly #runner: TurnRunner
  /** Ends calls that clients may not decide on. The server denies them itself, so `mayDecide` is not asked. */
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
      // Each tool limits its calls.
      limits: { timeMs: Number.POSITIVE_INFINITY, ...given.limits },
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
    try {
      return await this.#serve(conversation, call, caller, (signal) => {
        const turn = this.#runner.run({ message, conversation, signal })
        return this.#ended(call, turn, caller, signal)
      })
    } finally {
      // After its end: the store in memory drops the oldest remembered call, and must not drop one that runs.
      const [oldest] = this.#served.values()
      this.#scope.remember(conversation, oldest?.since ?? systemClock.now())
    }
  }

  /** Continues a call that waited for an answer of the client. */
  async resume(call: AskedCall, state: CallState, caller: Caller): Promise<object> {
    const { conversation } = state
    if (checksum(call.tool, call.args) !== state.call) {
      return failure('The answer belongs to another call. Nothing was run.')
    }
    const gate = await this.#scope.store.gate(conversation, state.gate)
    if (this.#served.has(conversation)) return failure(STILL_RUNS)
    if (gate?.state !== 'pending') return this.#answeredBefore(call, state, gate, caller)
    const { inputResponses = {} } = caller.ctx.mcpReq
    const given: unknown = Object.hasOwn(inputResponses, gate.id) ? inputResponses[gate.id] : {}
    const decision = decisionOf(gate, given, this.#scope.decidedBy)
    const work = async (signal: AbortSignal) => {
      // The server that asked may have had other rules.
      if (elicitationOf(gate, this.#scope) === undefined) {
        return this.#refuse(call, gate, caller, signal)
      }
      const turn = this.#runner.resume({ conversation, decisions: [decision], signal })
      return this.#ended(call, turn, caller, signal)
    }
    try {
      return await this.#serve(conversation, call, caller, work)
    } catch (error) {
      if (isBobbinError(error, 'E_DECISION_NOT_ALLOWED')) {
        return this.#serve(conversation, call, caller, (signal) =>
          this.#deny(call, gate, MAY_NOT_DECIDE, caller, signal),
        )
      }
      // Another process has taken an answer.
      if (!isBobbinError(error, 'E_GATE_STATE')) throw forClient(error)
      return this.#answeredBefore(call, state, gate, caller)
    }
  }

  /** The answer to a client that answers a question again: it may have lost the first one. */
  async #answeredBefore(
    call: AskedCall,
    { conversation }: CallState,
    gate: Gate | undefined,
    caller: Caller,
  ): Promise<object> {
    const { store } = this.#scope
    const record = await settledCall(this.#scope, conversation, gate?.toolCallId ?? '')
    if (record !== undefined) return servedResult(record, conversation)
    const [next] = await store.openGates(conversation)
    if (next?.state === 'pending') {
      return this.#serve(conversation, call, caller, (signal) =>
        this.#asked(call, next, caller, signal),
      )
    }
    return failure(gate?.state === 'expired' ? EXPIRED : IN_DOUBT)
  }

  async #serve(
    conversation: string,
    call: AskedCall,
    caller: Caller,
    work: (signal: AbortSignal) => Promise<object>,
  ): Promise<object> {
    const { signal: given } = caller.ctx.mcpReq
    this.#served.set(conversation, { call, from: fromOf(caller), since: systemClock.now() })
    try {
      return await this.#scope.running.run(given, work)
    } finally {
      this.#served.delete(conversation)
    }
  }

  async #ended(
    call: AskedCall,
    turn: TurnHandle,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<object> {
    const [outcome] = await Promise.all([turn, tellProgress(turn, caller.ctx)])
    const { conversation, gates, toolCalls } = outcome
    const [gate] = gates
    if (outcome.status === 'suspended' && gate !== undefined) {
      return this.#asked(call, gate, caller, signal)
    }
    const record = toolCalls.at(-1)
    if (record === undefined) return failure(outcome.reason?.message ?? 'The call did not run.')
    return servedResult(record, conversation)
  }

  /** Puts a question to the client. */
  async #asked(call: AskedCall, gate: Gate, caller: Caller, signal: AbortSignal): Promise<object> {
    const request = elicitationOf(gate, this.#scope)
    if (request === undefined) return this.#refuse(call, gate, caller, signal)
    if (!canAnswer(request, caller.capabilities)) {
      const denied = await this.#deny(call, gate, CANNOT_ASK, caller, signal)
      if (runsOnDecline(gate)) return denied
      // The SDK then answers with the error that the protocol has for it.
    }
    const { conversation, id } = gate
    const state = { conversation, gate: id, call: checksum(call.tool, call.args) }
    const requestState = await signState(this.#scope.store, state)
    return { resultType: 'input_required', inputRequests: { [id]: request }, requestState }
  }

  /** Ends a call whose question is not for clients. If they may not see all of it, a person at the store still decides. */
  async #refuse(call: AskedCall, gate: Gate, caller: Caller, signal: AbortSignal): Promise<object> {
    if (isUnshown(gate, this.#scope)) return failure(unshownText(gate))
    return this.#deny(call, gate, refusalOf(gate), caller, signal)
  }

  /** Declines a question. An agent continues without an answer, and what it says is the result. */
  async #deny(
    call: AskedCall,
    gate: Gate,
    reason: string,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<object> {
    const { id, conversation } = gate
    const { decidedBy } = this.#scope
    const decisions = [{ gate: id, decidedBy, approve: false as const, reason }]
    if (runsOnDecline(gate)) {
      const turn = this.#denier.resume({ conversation, decisions, signal })
      return this.#ended(call, turn, caller, signal)
    }
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

const runsOnDecline = ({ context }: Gate): boolean => context?.['runOnDecline'] === true

const failure = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
})

/** The spool of a store, or one in memory. */
export const spoolOf = (store: RunnerStore): SpoolStore => store.spool ?? memorySpool()
