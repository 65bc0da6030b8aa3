/** A handler is about to run, or its arguments are about to be refused. */
export interface ToolExecutionStartEvent {
  readonly type: 'toolExecutionStart'
  /** The checksum in flight: equal to `ToolCall.checksum` and to the stream's `checksum`. */
  readonly callId: string
  /** The record's id, because identical parallel calls share a checksum by design. */
  readonly toolCallId: string | undefined
  readonly tool: string
  /** Epoch milliseconds. */
  readonly startedAt: number
}

/** The one end that every start has. */
export interface ToolExecutionEndEvent {
  readonly type: 'toolExecutionEnd'
  readonly callId: string
  readonly toolCallId: string | undefined
  readonly tool: string
  readonly startedAt: number
  readonly endedAt: number
  readonly isError: boolean
  /** The error's code when the execution failed. */
  readonly code?: string
}
