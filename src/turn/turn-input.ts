import type { Media } from '../spool/media.ts'
import type { GateAnswer } from './gate-answer.ts'
import type { OutputSchema } from './structured-output.ts'

/** What a turn is asked to do. */
export interface TurnInput<S extends OutputSchema = OutputSchema> {
  /** Goes on with this conversation; a new one unless given. */
  readonly conversation?: string
  readonly message: string
  readonly attachments?: readonly Media[]
  /** The shape that the answer must have. */
  readonly output?: S
  /** Aborts the turn; `null` is none, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** What to pick up after a crash. */
export interface RecoverInput<S extends OutputSchema = OutputSchema> {
  readonly conversation: string
  /** The shape that the answer must have, once more: the log does not hold it. */
  readonly output?: S
  /**
   * Takes the conversation although the lease of its last runner still runs, as when that process is known
   * to be dead. A runner that lives after all is fenced: it cannot write any more.
   */
  readonly force?: boolean
  /** Aborts the turn; `null` is none, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** Which conversation goes on, and what was decided about its gates. */
export interface ResumeInput<S extends OutputSchema = OutputSchema> {
  readonly conversation: string
  readonly decisions: readonly GateAnswer[]
  /** The shape that the answer must have, once more: the log does not hold it. */
  readonly output?: S
  /** Aborts the turn; `null` is none, as for `fetch`. */
  readonly signal?: AbortSignal | null
}
