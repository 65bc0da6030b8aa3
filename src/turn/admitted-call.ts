import type { Intent } from '../store/entry.ts'
import type { Tool } from '../tools/tool.ts'
import type { AskedCall } from './asked-call.ts'

/** A call that may run, with everything that running it takes. */
export interface AdmittedCall {
  readonly asked: AskedCall
  readonly tool: Tool
  /** What the handler gets. */
  readonly value: unknown
  /**
   * What is in the log before it starts. Absent for a `read`, whose intent comes with its settlement: running
   * it twice harms nobody.
   */
  readonly intent?: Intent | undefined
  /** True when an earlier attempt may have taken effect: it must not end as a call that was not run. */
  readonly mayHaveRun?: boolean
  /** Ends what a turn inside an earlier attempt left open, where no turn inside this one goes on with it. */
  readonly abandon?: () => Promise<void>
  /** Told to the model beside the result. */
  readonly note?: string | undefined
}
