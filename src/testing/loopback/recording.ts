import type { LoopbackExchange } from './loopback-exchange.ts'

/** One exchange with a real server, as it is written to a file: without keys and without what names a person. */
export interface LoopbackRecording {
  readonly api: string
  readonly request: {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
  }
  /** Goes into `exchanges` of a loopback server as it is. */
  readonly exchange: LoopbackExchange
}

/** Everything of one exchange, as it was. */
export interface RawExchange {
  readonly api: string
  readonly path: string
  /** The query of the request, which may hold a key. */
  readonly query: URLSearchParams
  readonly requestHeaders: Headers
  readonly requestBody: unknown
  readonly isStream: boolean
  readonly status: number
  readonly responseHeaders: Headers
  readonly responseBytes: Uint8Array
}

/** The bytes of a recording. */
export function bytesOf(data: NonNullable<LoopbackExchange['recording']>): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return data instanceof Uint8Array ? Buffer.from(data) : Buffer.from(data.base64, 'base64')
}

const REMOVED = '[removed]'

// A list of the headers to keep: an unknown header may name its user.
const KEPT_HEADERS = [
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'openai-beta',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
]
const KEY_HEADERS = [
  'api-key',
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-amz-security-token',
  'x-api-key',
  'x-goog-api-key',
]
const KEY_PARAMETERS = ['access_token', 'api_key', 'key']

/** Members of a request or a response that name a person. */
const PERSONAL = new Set(['metadata', 'safety_identifier', 'user'])
/** Lists whose entries hold the keys of other servers, and the members that do. */
const HOLDERS = new Set(['mcp_servers', 'tools'])
const KEYS_INSIDE = new Set(['authorization', 'authorization_token', 'headers'])

/** The exchange as it may be stored. */
export function recordingOf(raw: RawExchange): LoopbackRecording {
  const secrets = secretsOf(raw)
  const clean = (text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text)
  const { api, path, status, responseHeaders } = raw
  const headers = keptHeaders(responseHeaders)
  return {
    api,
    request: {
      path,
      headers: keptHeaders(raw.requestHeaders),
      body: JSON.parse(clean(JSON.stringify(withoutNames(raw.requestBody ?? null)))) as unknown,
    },
    exchange: { status, headers, ...answerOf(raw, clean, secrets) },
  }
}

function answerOf(
  { responseBytes, isStream, status }: RawExchange,
  clean: (text: string) => string,
  secrets: readonly string[],
): Pick<LoopbackExchange, 'body' | 'recording'> {
  const text = textOf(responseBytes)
  if (isStream && status < 400) {
    if (text === undefined) return { recording: { base64: masked(responseBytes, secrets) } }
    return { recording: clean(text.replace(/^(data: ?)(\{.*\})(?=\r?$)/gm, withoutNamesInLine)) }
  }
  return { body: bodyOf(clean(withoutNamesInText(text ?? ''))) }
}

/** A body that says the same bytes again is kept as a value, which is easier to read and to edit. */
function bodyOf(text: string): unknown {
  const value = parsed(text)
  return value !== undefined && JSON.stringify(value) === text ? value : text
}

function withoutNamesInLine(line: string, name: string, data: string): string {
  const cleaned = withoutNamesInText(data)
  return cleaned === data ? line : `${name}${cleaned}`
}

/** The same text, or the text written anew if it names a person. */
function withoutNamesInText(text: string): string {
  const value = parsed(text)
  const cleaned = withoutNames(value)
  const before = JSON.stringify(value)
  const after = JSON.stringify(cleaned)
  return value === undefined || before === after ? text : after
}

function withoutNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (PERSONAL.has(name)) return [name, removed(member)]
      if (HOLDERS.has(name) && Array.isArray(member)) return [name, member.map(withoutKeys)]
      return [name, name === 'response' ? withoutNames(member) : member]
    }),
  )
}

function withoutKeys(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return entry
  return Object.fromEntries(
    Object.entries(entry).map(([name, member]) => [
      name,
      KEYS_INSIDE.has(name) ? removed(member) : member,
    ]),
  )
}

function removed(member: unknown): unknown {
  if (member === null) return null
  return typeof member === 'object' ? {} : REMOVED
}

/** The keys that the request was sent with. */
function secretsOf({ requestHeaders, query }: RawExchange): readonly string[] {
  const given = [
    ...KEY_HEADERS.map((name) => requestHeaders.get(name)),
    ...KEY_PARAMETERS.map((name) => query.get(name)),
  ]
  return (
    given
      .flatMap((value) => (value === null ? [] : [value, ...value.split(/[\s;=,]+/)]))
      // A shorter value is not a key, and would take words out of the text.
      .filter(({ length }) => length >= 8)
  )
}

/** Bytes that are not text, with `x` over each key: their length is part of the framing. */
function masked(bytes: Uint8Array, secrets: readonly string[]): string {
  const copy = Buffer.from(bytes)
  for (const secret of secrets) {
    for (let at = copy.indexOf(secret); at !== -1; at = copy.indexOf(secret, at)) {
      copy.fill('x', at, at + Buffer.byteLength(secret))
    }
  }
  return copy.toString('base64')
}

function keptHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
