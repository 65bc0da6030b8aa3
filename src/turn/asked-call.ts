import type { CallItem } from '../records/history-item.ts'
import type { ReadRequest } from './read-request.ts'

/** A call that was asked for: its record's id, what was read of it, and its place in the history. */
export interface AskedCall {
  readonly id: string
  readonly request: ReadRequest
  readonly item: CallItem
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The call whose arguments a person changed into these. */
  readonly editOf?: string
  /** Paths of arguments that were removed before storing; such a call cannot be run any more. */
  readonly redacted?: readonly string[]
  /** Why it will not run whatever else is said, if so. */
  readonly unfinished?: string | undefined
}
