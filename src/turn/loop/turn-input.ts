import type { Media } from '../../spool/media.ts'
import type { GateAnswer } from '../gates/gate-answer.ts'
import type { OutputRequest, OutputSchema } from './structured-output.ts'

/** The input of a turn. A runner whose tools need a `context` requires one. */
export type TurnInput<S extends OutputSchema = OutputSchema, Context = unknown> = RunInput<S> &
  (undefined extends Context
    ? {
        /** JSON of at most 64 KB for handlers and policies: who the user is, for instance. No prompt shows it. */
        readonly context?: Context
      }
    : {
        /** JSON of at most 64 KB for handlers and policies: who the user is, for instance. No prompt shows it. */
        readonly context: Context
      })

/** The input of a turn without its context. */
interface RunInput<S extends OutputSchema> {
  /** Continues this conversation; a new one unless given. */
  readonly conversation?: string
  readonly message: string
  readonly attachments?: readonly Media[]
  /**
   * The id of the turn, in a `conversation`: the same input under the same id runs once, however often it is sent and by
   * any process. A new one unless given.
   */
  readonly turnId?: string
  /**
   * What to do while another turn holds the conversation: `refuse` (the default), `queue` a turn of its own after it, or
   * `steer` the turn that runs with this message.
   */
  readonly whenBusy?: 'refuse' | 'queue' | 'steer'
  /** The schema of the answer, or `{ schema, attempts }`. */
  readonly output?: OutputRequest<S>
  /** Aborts the turn; `null` means no signal, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** The input of `recover`. */
export interface RecoverInput<S extends OutputSchema = OutputSchema> {
  readonly conversation: string
  /** The schema of the answer. Pass it again: the log does not hold it. */
  readonly output?: OutputRequest<S>
  /**
   * Takes the conversation although the lease of its last runner has not expired. Use it when that process is known to be
   * dead. If it is alive, it can no longer write to the conversation.
   */
  readonly force?: boolean
  /** Aborts the turn; `null` means no signal, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** The input of `resume`: the conversation, and the decisions on its gates. */
export interface ResumeInput<S extends OutputSchema = OutputSchema> {
  readonly conversation: string
  readonly decisions: readonly GateAnswer[]
  /** The schema of the answer. Pass it again: the log does not hold it. */
  readonly output?: OutputRequest<S>
  /** Aborts the turn; `null` means no signal, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** The input of `regenerate`: which conversation, and perhaps another message than its last one. */
export interface RegenerateInput<S extends OutputSchema = OutputSchema, Context = unknown> {
  readonly conversation: string
  /** Takes the place of the last message of a user; without it, that message is asked again. */
  readonly message?: string
  /** Of the new message. A message that is asked again keeps its own. */
  readonly attachments?: readonly Media[]
  /** Asks again although calls that are skipped may have changed something, and may run a second time. */
  readonly redoEffects?: boolean
  /**
   * Undoes, newest first, what is skipped, before it asks again. If one of these calls cannot be undone, none is:
   * `E_CANNOT_UNDO`. If an undo waits for an approval, the outcome is `suspended`; call `regenerate` again after `resume`.
   */
  readonly undo?: boolean
  /** The id of the turn: the same input under the same id runs once. A new one unless given. */
  readonly turnId?: string
  /** What to do while another turn holds the conversation: `refuse` (the default), or `queue` after it. */
  readonly whenBusy?: 'refuse' | 'queue'
  /** As for `run`; that of the turn that is taken back unless given. */
  readonly context?: Context
  /** The schema of the answer, or `{ schema, attempts }`. Pass it again: the log does not hold it. */
  readonly output?: OutputRequest<S>
  /** Aborts the turn; `null` means no signal, as for `fetch`. */
  readonly signal?: AbortSignal | null
}

/** The input of `undo`. */
export interface UndoInput<Context = unknown> {
  readonly conversation: string
  /** The call to undo: `ToolCall.id`. */
  readonly toolCallId: string
  /** Who asked for it; authorising them is the application's job. */
  readonly decidedBy: string
  /** For `undo` and `approval` of the tool; that of the last `run` unless given. */
  readonly context?: Context
  /** Aborts the turn; `null` means no signal, as for `fetch`. */
  readonly signal?: AbortSignal | null
}
