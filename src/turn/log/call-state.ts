import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import type { CallItem } from '../../records/history-item.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import type { Intent } from '../../store/entry.ts'

/** A call that the model asked for: its item in the history, and how its arguments were read. */
export interface AskedCall {
  /** Its id, tool, arguments and origin, as the history shows them. */
  readonly item: CallItem
  readonly checksum: string
  /** Epoch milliseconds. */
  readonly askedAt: number
  /** The id of the `toolInput` events that brought its arguments. */
  readonly inputId?: string
  /** The received text when it is not strict JSON; on the spool when it is long. */
  readonly rawArgs?: string | SpooledArtifact
  /** Why its arguments cannot be used, in words for the model. */
  readonly fault?: string
  /** True when the response ended before the call was finished. */
  readonly isUnfinished?: boolean
  /** The call whose arguments a person changed into these. */
  readonly editOf?: string
  /** Paths of arguments that were removed before storing: after a restart, such a call cannot run. */
  readonly redacted?: readonly string[]
}

/** Where a call stands, according to the log. */
export type CallState =
  /** The model asked for it. A dead process leaves only a `read` in this state. */
  | { readonly at: 'asked'; readonly call: AskedCall }
  /** It waits for a decision; nothing has run. */
  | { readonly at: 'waiting'; readonly call: AskedCall; readonly gate: string }
  /** Its handler may have run. */
  | { readonly at: 'started'; readonly call: AskedCall; readonly intent: Intent }
  /** It started a turn inside it, and that turn waits for decisions. */
  | {
      readonly at: 'held'
      readonly call: AskedCall
      readonly intent: Intent
      readonly gates: readonly string[]
    }
  | { readonly at: 'settled'; readonly record: ToolCall }

export type OpenState = Exclude<CallState, { at: 'settled' }>
export type StartedState = Extract<CallState, { at: 'started' | 'held' }>

/** The id under which a record is shown: the call that the model asked for. */
export const shownId = ({
  id,
  editOf,
  supersedes,
}: Pick<ToolCall, 'id' | 'editOf' | 'supersedes'>): string => editOf ?? supersedes ?? id
