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
  readonly signal?: AbortSignal
}

export interface ResumeInput {
  readonly conversation: string
  readonly decisions: readonly GateAnswer[]
  readonly signal?: AbortSignal
}
