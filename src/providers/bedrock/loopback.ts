import { memberAt, textAt } from '../../core/json/json-scan.ts'
import { type FrameEvent, frameOf, splitFrames } from '../../model/event-frames.ts'
import type { LoopbackHalf } from '../../model/provider-definition.ts'
import { asObject, isJson } from '../../model/wire/wire-value.ts'

const NAMES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}

const nameOf = (status: number) =>
  NAMES[status] ?? (status < 500 ? 'ValidationException' : 'InternalServerException')

/** The exceptions that a stream can hold. */
function exceptionOf(status: number): string {
  if (status === 429) return 'throttlingException'
  if (status === 424) return 'modelStreamErrorException'
  if (status < 500) return 'validationException'
  return status === 500 ? 'internalServerException' : 'serviceUnavailableException'
}

/** The server of Converse. Its streams are binary: frames with lengths, headers and checksums. */
export const loopback: LoopbackHalf = {
  route: /^\/model\/[^/]+\/converse(-stream)?$/,
  basePath: '',
  isStream: (path) => path.endsWith('/converse-stream'),
  contentType: 'application/vnd.amazon.eventstream',
  frame: (event) => frameOf(namedEvent(event)),
  split: splitFrames,
  errorBody: (status, message) => ({ __type: nameOf(status), message }),
  errorEvent: (status, message) => ({ [exceptionOf(status)]: { message } }),
}

/** An event by its member. A text is sent as it is, as far as it can be read. */
function namedEvent(event: unknown): FrameEvent {
  if (typeof event !== 'string') {
    const [[name, body] = ['unknown', event]] = Object.entries(event ?? {})
    return { name, data: JSON.stringify(body) }
  }
  const value = isJson(event) ? asObject(JSON.parse(event)) : undefined
  const named = Object.entries(value ?? {}).find(([, body]) => asObject(body) !== undefined)
  if (named !== undefined)
    return { name: named[0], data: textAt(event, memberAt(event, 0, named[0])) }
  const [, name = 'unknown', data = event] = /^\s*\{\s*"(\w+)"\s*:(.*)$/s.exec(event) ?? []
  return { name, data }
}
