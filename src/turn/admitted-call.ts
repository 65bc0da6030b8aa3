import type { Intent } from '../store/entry.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './ask-calls.ts'

/** A call that may run, with everything that running it takes. */
export interface AdmittedCall {
  readonly asked: AskedCall
  readonly tool: Tool
  /** What the handler gets. */
  readonly value: unknown
  readonly intent: Intent
  /** False when the intent is to be made durable with the settlement. */
  readonly isLogged: boolean
  /** True when an earlier attempt may have taken effect: it must not end as a call that was not run. */
  readonly mayHaveRun?: boolean
  /** Told to the model beside the result. */
  readonly note?: string | undefined
}
