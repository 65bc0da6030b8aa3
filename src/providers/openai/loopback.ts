import { asksToStream } from '../../model/loopback-framing.ts'

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_exceeded',
}

/** The error of either API, as it stands in a body or an event. */
export function errorOf(status: number, message: string) {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { message, type, param: null, code: status < 500 ? null : type }
}

/** What the servers of both APIs have alike. */
export const openaiServer = {
  basePath: '/v1',
  isStream: asksToStream,
  errorBody: (status: number, message: string) => ({ error: errorOf(status, message) }),
}
