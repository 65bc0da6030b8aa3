import type { Violation } from '../../model/wire/wire-adapter.ts'
import type { LoopbackFault } from './loopback-fault.ts'

/** One answer. It has `events`, `recording` or `body`, or only a `status` for an error. */
export interface LoopbackExchange {
  /** 200 unless given. An error status without `body` gets the provider's own form of error. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The answer to a request that does not stream. */
  readonly body?: unknown
  /** The answer to a streaming request: parsed events, or strings that are sent as they are. */
  readonly events?: readonly unknown[]
  /** A recorded stream, byte for byte, in place of `events`. */
  readonly recording?: string | Uint8Array | { readonly base64: string }
  readonly fault?: LoopbackFault
  /** Sends the bytes in pieces of this size, whatever the events are. */
  readonly chunkBytes?: number
}

/** What a client sent. */
export interface LoopbackRequest {
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Parsed JSON. */
  readonly body: unknown
  readonly isStream: boolean
  /**
   * What `validate` found, and on the Messages protocol whether thinking stands behind something else than what it was
   * given out under. Such a request was answered with 400 and used up no exchange.
   */
  readonly violations: readonly Violation[]
}

/** What a server remembers of its answers, to check later requests. */
export interface RequestMemory {
  check(request: Pick<LoopbackRequest, 'body' | 'headers'>): readonly Violation[]
  answered(request: LoopbackRequest, exchange: LoopbackExchange): void
}
