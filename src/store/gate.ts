import type { JsonObject, JsonValue } from '../core/json/json.ts'
import type { GivenGrant, NewGrant } from './grant.ts'

/** How long a gate waits for its decision by default. */
export const DEFAULT_GATE_MS = 24 * 60 * 60 * 1000

/** A question that a person or another system has to decide. */
export interface GateRequest {
  /** Unique in the conversation. */
  readonly id: string
  /**
   * `approval` asks for a verdict on a call, `input` for a value that fits `schema`; `link` asks a person to open `url`, to
   * sign in or consent there; `result` asks for the result of an external call.
   */
  readonly kind: 'approval' | 'input' | 'link' | 'result'
  /** Who asks: the runner, for its policy or for a handler, or the provider. */
  readonly from: 'runner' | 'provider'
  /** Why our own policy asks; absent if the provider asks. */
  readonly because?: GateCause
  /** The id of the call that waits, if there is one: `ToolCall.id`. */
  readonly toolCallId?: string
  /** The id of the `toolInput` events that brought its arguments, as on its announcement. */
  readonly inputId?: string
  readonly tool?: string
  /** The effective arguments: what the handler would get. */
  readonly args?: JsonObject
  /** What a handler asks the person. */
  readonly message?: string
  /** JSON Schema of the value that a gate of kind `input` asks for. */
  readonly schema?: JsonObject
  /** What to open: text of a stranger. `https`, or `http` to this machine, with its host in punycode. Never part of a prompt. */
  readonly url?: string
  /** On a gate of kind `result`: the same however often the call is looked at; for services that deduplicate. */
  readonly idempotencyKey?: string
  /** Hash of tool definition and effective arguments: the decision is valid for these only. */
  readonly digest: string
  /** Epoch milliseconds; 24 hours after opening unless given. */
  readonly expiresAt?: number
  /** What the runner needs to continue, such as the provider's own request. */
  readonly context?: JsonObject
}

/**
 * What made a call wait: its tool's `approval`, the trust of what the conversation has seen before a `write`, or an
 * effect that is not declared, under `policy: 'strict'`.
 */
export type GateCause = 'tool' | 'trust' | 'effect'

/** How a gate was decided; `edited` is an approval of other arguments, `answered` an answer to `input`, `link` or `result`. */
export type GateVerdict = 'approved' | 'denied' | 'edited' | 'answered'

/** A decision and who made it. The application must check that they may decide. */
export interface GateDecision {
  readonly verdict: GateVerdict
  readonly decidedBy: string
  /** Epoch milliseconds, by the store's clock. */
  readonly decidedAt: number
  /** The arguments that replace the asked ones; with `edited` only. */
  readonly args?: JsonObject
  /** The answer to a gate of kind `input` or `result`; with `answered` only. */
  readonly value?: JsonValue
  /** Why an external call failed; with `answered` on a gate of kind `result` only. */
  readonly error?: string
  readonly comment?: string
  /** The standing approval that was given with it; with `approved` only. */
  readonly grant?: GivenGrant
}

/** A decision as it is given to the store, which adds the time. */
export interface NewGateDecision {
  readonly verdict: GateVerdict
  readonly decidedBy: string
  readonly args?: JsonObject
  readonly value?: JsonValue
  readonly error?: string
  readonly comment?: string
  /** A standing approval for later calls; with `approved` only. */
  readonly grant?: NewGrant
  /** The digest that was shown to the person who decides. A gate with another digest is not decided. */
  readonly digest?: string
}

/** `pending → approved | denied | edited | answered → consumed`, or `expired` or `abandoned` instead. */
export type GateState = 'pending' | GateVerdict | 'consumed' | 'expired' | 'abandoned'

/** A decision that a turn waits for: a row in the store that changes by compare-and-set. */
export interface Gate extends GateRequest {
  /** Why it waits, and the ways out, in one sentence for people. It is not stored; `because` is the code. */
  readonly why: string
  readonly conversation: string
  readonly turnId: string
  readonly openedAt: number
  readonly expiresAt: number
  /** A gate is `expired` as soon as its time is over. */
  readonly state: GateState
  readonly decision?: GateDecision
}
