import { dataOf } from '../../../model/loopback-framing.ts'
import type { LoopbackHalf } from '../../../model/provider-definition.ts'
import { asObject } from '../../../model/wire/wire-value.ts'

const CODES: Readonly<Record<number, string>> = {
  401: 'authentication',
  402: 'payment_required',
  403: 'permission_denied',
  404: 'not_found',
  429: 'rate_limit_exceeded',
  500: 'api_error',
  503: 'service_unavailable',
  504: 'deadline_exceeded',
}

function errorOf(status: number, message: string) {
  const code = CODES[status] ?? (status < 500 ? 'invalid_request' : 'api_error')
  return { error: { code, message } }
}

/** The server of Interactions. */
export const loopback: LoopbackHalf = {
  route: /\/interactions$/,
  basePath: '',
  isStream: (_path, body) => asObject(body)?.['stream'] === true,
  frame: (event) => {
    const data = dataOf(event)
    // Recorded data may be broken on purpose, so the name is searched, not parsed.
    const name = /"event_type"\s*:\s*"([\w.]+)"/.exec(data)?.[1]
    return `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`
  },
  trailer: 'event: done\ndata: [DONE]\n\n',
  errorBody: errorOf,
  errorEvent: (status, message) => ({ event_type: 'error', ...errorOf(status, message) }),
}
