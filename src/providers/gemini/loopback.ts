import { dataOf } from '../../model/loopback-framing.ts'
import type { LoopbackHalf } from '../../model/provider-definition.ts'

const STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function errorOf(status: number, message: string) {
  const word = STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE')
  return { error: { code: status, message, status: word } }
}

/** The server of generateContent. */
export const loopback: LoopbackHalf = {
  route: /\/models\/[^/:]+:(generateContent|streamGenerateContent)$/,
  basePath: '',
  isStream: (path) => path.endsWith(':streamGenerateContent'),
  frame: (event) => `data: ${dataOf(event)}\r\n\r\n`,
  errorBody: errorOf,
  errorEvent: errorOf,
}
