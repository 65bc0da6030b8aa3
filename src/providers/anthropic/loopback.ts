import { asksToStream, namedFrame } from '../../model/loopback-framing.ts'
import type { LoopbackHalf } from '../../model/provider-definition.ts'

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function errorOf(status: number, message: string) {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message }, request_id: 'req_loopback' }
}

/** The server of the Messages API. */
export const loopback: LoopbackHalf = {
  route: /\/v1\/messages$/,
  basePath: '',
  isStream: asksToStream,
  frame: namedFrame,
  errorBody: errorOf,
  errorEvent: errorOf,
}
