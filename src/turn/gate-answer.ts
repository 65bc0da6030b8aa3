import type { JsonObject } from '../core/json.ts'
import type { GateRequest } from '../store/gate.ts'

/** An answer to a gate, as an application gives it. */
export interface GateAnswer {
  readonly gate: string
  readonly approve: boolean
  /** Who decided; authorising them is the application's job. */
  readonly decidedBy: string
  /** What was shown to whoever decided; when given, it must be the gate's. */
  readonly digest?: string
  /** Arguments to run instead; they become a new record that points at the original. */
  readonly args?: JsonObject
  /** Told to the model when the answer is no. */
  readonly reason?: string
}

/** Decides in process, without suspending the turn. */
export type Approve = (request: GateRequest) => Promise<boolean | Omit<GateAnswer, 'gate'>>
