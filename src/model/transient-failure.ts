import { isBobbinError } from '../core/error/error.ts'

/** Whether the same request may succeed later or elsewhere: the provider says so, or its stream broke off. */
export function isTransient(error: unknown): boolean {
  if (isBobbinError(error, 'E_STREAM_BROKEN')) return true
  return isBobbinError(error) && (error.data as { isRetryable?: boolean }).isRetryable === true
}
