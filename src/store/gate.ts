import type { JsonObject } from '../core/json.ts'

/** How long a gate waits for its decision unless told otherwise. */
export const DEFAULT_GATE_MS = 24 * 60 * 60 * 1000

/** What somebody is asked to decide. */
export interface GateRequest {
  /** Unique in the conversation. */
  readonly id: string
  /** Who asks: our own policy, or the provider. */
  readonly type: 'approval' | 'provider-approval' | 'provider-consent'
  /** Why our own policy asks; absent where the provider does. */
  readonly because?: GateCause
  /** The call that waits, where there is one. */
  readonly callId?: string
  readonly tool?: string
  /** The effective arguments: what the handler would get. */
  readonly args?: JsonObject
  /** Over tool definition and effective arguments: what exactly the decision is about. */
  readonly digest: string
  /** Epoch milliseconds; 24 hours after opening unless given. */
  readonly expiresAt?: number
  /** Whatever the runner needs in order to go on, such as the provider's own request. */
  readonly context?: JsonObject
}

/**
 * What made a call wait: its tool's `approval`, the trust of what the conversation has seen before a `write`, or an
 * effect that is not declared, under `policy: 'strict'`.
 */
export type GateCause = 'tool' | 'trust' | 'effect'

export type GateVerdict = 'approved' | 'denied' | 'edited'

/** What was decided, by whom. Authorising them is the application's job. */
export interface GateDecision {
  readonly verdict: GateVerdict
  readonly decidedBy: string
  /** Epoch milliseconds, by the store's clock. */
  readonly decidedAt: number
  /** The arguments that replace the asked ones; with `edited` only. */
  readonly args?: JsonObject
  readonly comment?: string
}

/** What a decision is made of; the store adds the time. */
export interface NewGateDecision {
  readonly verdict: GateVerdict
  readonly decidedBy: string
  readonly args?: JsonObject
  readonly comment?: string
  /** The digest that was shown to whoever decides; a gate with another one is not decided. */
  readonly digest?: string
}

/** `pending → approved | denied | edited → consumed`, or `expired` or `abandoned` instead. */
export type GateState = 'pending' | GateVerdict | 'consumed' | 'expired' | 'abandoned'

/** A decision that a turn waits for: a row that the store holds, changed by compare-and-set. */
export interface Gate extends GateRequest {
  readonly conversation: string
  readonly turnId: string
  readonly openedAt: number
  readonly expiresAt: number
  /** `expired` also when nobody has closed the gate yet but its time is over. */
  readonly state: GateState
  readonly decision?: GateDecision
}
