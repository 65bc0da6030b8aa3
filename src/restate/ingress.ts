import { brief } from '../core/error/cut-text.ts'
import { BobbinError } from '../core/error/error.ts'
import { thrownText } from '../core/error/thrown-text.ts'
import { wrongInput } from '../core/error/wrong-input.ts'
import { unwrapped } from './engine-messages.ts'

/** Where the engine takes requests. */
export interface Ingress {
  /** Its address, without a slash at its end. */
  readonly url: string
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  /** How long the engine may be out of reach before a request is given up. */
  readonly retryTimeoutMs: number
}

/** A request to a handler of the agent. */
export interface EngineRequest {
  readonly conversation: string
  readonly handler: string
  readonly body?: unknown
  /** Requests under the same key are one: a lost connection is asked for again. */
  readonly key?: string
  /** Starts it so many milliseconds later, and does not wait for it. */
  readonly delayMs?: number
  readonly signal?: AbortSignal
}

const PAUSE_MS = 250
/** A connection that takes longer than this was made: `fetch` gives up earlier. */
const LONGEST_CONNECT_MS = 15_000

/** Asks until the engine has answered. A connection that breaks while a turn runs is made anew. */
export async function askEngine<T>(ingress: Ingress, request: EngineRequest): Promise<T> {
  const { signal, conversation } = request
  if (conversation === '.' || conversation === '..' || !conversation.isWellFormed()) {
    const rule = 'must be well-formed text, and neither `.` nor `..`: it is a part of an address'
    throw wrongInput('restateClient', 'conversation', rule)
  }
  let lostAt: number | undefined
  for (;;) {
    signal?.throwIfAborted()
    let why: string
    const askedAt = performance.now()
    try {
      const response = await post(ingress, request)
      const text = await response.text()
      if (response.ok)
        return request.delayMs === undefined ? (unwrapped(parsed(text)) as T) : (undefined as T)
      why = sayingOf(text, response.status)
      if (response.status < 500 && response.status !== 429)
        throw refused(ingress, response.status, why)
      // The handler itself failed for good.
      if (response.status === 500) throw failed(why)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof BobbinError) throw error
      why = reasonOf(error)
      // A turn that takes long is not a failure, and the engine was there: the same request waits for it again.
      if (performance.now() - askedAt > LONGEST_CONNECT_MS) lostAt = undefined
    }
    const now = performance.now()
    lostAt ??= now
    if (now - lostAt > ingress.retryTimeoutMs) throw unreachable(ingress, why)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

function post({ url, name, headers }: Ingress, request: EngineRequest): Promise<Response> {
  const { conversation, handler, body, key, delayMs, signal } = request
  const path = `${url}/${name}/${encodeURIComponent(conversation)}/${handler}`
  const later = delayMs === undefined ? '' : `/send?delay=${Math.max(0, Math.floor(delayMs))}ms`
  return fetch(`${path}${later}`, {
    method: 'POST',
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'error',
    ...(signal && { signal }),
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw failed('its answer is not JSON', cause)
  }
}

function sayingOf(text: string, status: number): string {
  try {
    const { message } = Object(JSON.parse(text)) as { message?: unknown }
    if (typeof message === 'string') return brief(message, 500)
  } catch {}
  return `status ${status}`
}

function refused({ name }: Ingress, status: number, why: string): BobbinError {
  const way =
    status === 404
      ? `The engine does not know the agent \`${name}\`: start a worker and register it. It said: ${why}`
      : `The engine refused the request: ${why}`
  return new BobbinError('E_ENGINE', way, { status, reason: why })
}

function failed(why: string, cause?: unknown): BobbinError {
  const message = `The turn was ended in the engine: ${why}`
  return new BobbinError('E_ENGINE', message, { status: 500, reason: why }, { cause })
}

function unreachable({ url }: Ingress, why: string): BobbinError {
  const message = `The engine at ${new URL(url).origin} gave no answer (${why}). Check \`ingress\`, and that the engine runs. Nothing is lost: send the same \`turnId\` again.`
  return new BobbinError('E_ENGINE', message, { status: 0, reason: why })
}

function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code: unknown = (cause as { code?: unknown } | null)?.code
  return typeof code === 'string' ? brief(code, 40) : brief(thrownText(cause), 100)
}
