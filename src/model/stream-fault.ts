import { BobbinError } from '../core/error/error.ts'
import { wrongInput } from '../core/error/wrong-input.ts'

/** The error of a stream that cannot be trusted any further. Its calls are never run. */
export function brokenStream(reason: StreamFault, what: string, cause?: unknown): BobbinError {
  checkFault(reason, what)
  const message = `The response stream is broken: ${what}. Send the request again.`
  return new BobbinError('E_STREAM_BROKEN', message, { reason }, { cause })
}

const FAULTS: ReadonlySet<unknown> = new Set<StreamFault>([
  'cut',
  'duplicate-key',
  'invalid-utf8',
  'not-json',
  'too-long',
  'unexpected-event',
])

function checkFault(reason: unknown, what: unknown): void {
  if (!FAULTS.has(reason)) {
    throw wrongInput('brokenStream', 'reason', `must be one of ${[...FAULTS].join(', ')}`)
  }
  if (typeof what !== 'string') throw wrongInput('brokenStream', 'what', 'must be a text')
}

/** The faults of a stream. */
export type StreamFault =
  | 'cut'
  | 'duplicate-key'
  | 'invalid-utf8'
  | 'not-json'
  | 'too-long'
  | 'unexpected-event'
