import { addressKind } from './address-kind.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { followRedirects, onlyOrigin, RedirectRefusedError } from './follow-redirects.ts'
import { codeIn } from './sign-in.ts'

/** How much an authorization server may answer, and how long it may take. */
const MAX_BYTES = 256 * 1024
const ANSWER_MS = 30_000

/** An answer of an authorization server that cannot be used. */
class OAuthAnswerError extends Error {
  override name = 'OAuthAnswerError'
}

/** The SDK takes a `TypeError` as a failure of the network. */
class OAuthUnreachableError extends TypeError {
  override name = 'OAuthUnreachableError'
}

interface Answer {
  readonly init: { status: number; statusText: string; headers: Headers }
  readonly text: string | null
}

/** How long the answer to a refresh serves others with the same token. */
const KEPT_MS = 5_000

const allRefreshes = new WeakMap<object, Map<string, Promise<Answer>>>()

/** A refresh token often counts once: all clients of a provider share one refresh. */
function refreshesOf(provider: object): Map<string, Promise<Answer>> {
  const refreshes = allRefreshes.get(provider) ?? new Map<string, Promise<Answer>>()
  allRefreshes.set(provider, refreshes)
  return refreshes
}

/**
 * The `fetch` of a client of one server. The server decides which authorization server is asked, so those requests are
 * held to more: where they go, what they carry, and what of the answer the SDK sees. It puts answers into errors and warnings.
 */
export function oauthFetch(
  server: URL,
  headers: Readonly<Record<string, string>>,
  fetch: typeof globalThis.fetch,
  provider: object = {},
): typeof globalThis.fetch {
  const messages = boundedFetch(followRedirects(fetch, onlyOrigin(server)))
  const limits = { bytes: MAX_BYTES, streamed: false }
  // The headers are chosen for each address: a redirect may lead from the server to another one.
  const stripped: typeof globalThis.fetch = (input, init = {}) => {
    const target = new URL(input instanceof Request ? input.url : input)
    return fetch(target, { ...init, headers: carried(server, target, init, headers) })
  }
  const reads = boundedFetch(
    followRedirects(stripped, (target) => requireReachable(server, target)),
    limits,
  )
  // A code, a token or a secret goes to the address that was checked, and to no other origin.
  const writes = (target: URL) =>
    boundedFetch(followRedirects(stripped, onlyOrigin(target)), limits)
  const refreshes = refreshesOf(provider)
  const ask = async (target: URL, init: RequestInit): Promise<Answer> => {
    const signal = init.signal ?? AbortSignal.timeout(ANSWER_MS)
    const isRead = (init.method ?? 'GET') === 'GET'
    const answers = isRead ? reads : writes(target)
    return read(await answers(target, { ...init, signal }).catch(unreachable))
  }
  return async (input, init = {}) => {
    const target = new URL(input instanceof Request ? input.url : input)
    if (isMessage(init)) return messages(input, init)
    requireReachable(server, target)
    const key = refreshOf(target, init)
    if (key === undefined) return responseOf(await ask(target, init))
    const known = refreshes.get(key)
    if (known !== undefined) return responseOf(await known)
    const refresh = ask(target, init)
    refreshes.set(key, refresh)
    const forget = () => refreshes.delete(key)
    try {
      const answer = await refresh
      if (answer.init.status >= 400) forget()
      // Another client may have read the old token just before the new one was stored.
      const timer = setTimeout(forget, KEPT_MS)
      ;(timer as { unref?: () => void }).unref?.()
      return responseOf(answer)
    } catch (error) {
      forget()
      throw error
    }
  }
}

/** Whether a request is for the MCP server itself. */
const isMessage = ({ method, headers }: RequestInit): boolean =>
  method === 'DELETE' || new Headers(headers).get('accept')?.includes('text/event-stream') === true

/**
 * Refuses an address that a server must not choose: only `https`, this machine only from this machine, and a private
 * address only from there or from one. The origin of the server itself is what the application chose.
 */
export function requireReachable(server: URL, target: URL): void {
  if (target.origin === server.origin) return
  const from = addressKind(server)
  const to = addressKind(target)
  const isNear = to === 'here' ? from === 'here' : to === 'elsewhere' || from !== 'elsewhere'
  const isSafe = to === 'here' || target.protocol === 'https:'
  if (isNear && isSafe && !hasUser(target)) return
  const rule = 'must be `https`, and not on this machine or a private address'
  throw new OAuthAnswerError(`an address that the MCP server names for the sign-in ${rule}`)
}

/** Whether an address names a user or a password, which errors of `fetch` would show. */
export const hasUser = ({ username, password }: URL): boolean => username !== '' || password !== ''

/** The headers of a request; those that the application meant for the server stay with the server. */
function carried(
  server: URL,
  target: URL,
  init: RequestInit,
  own: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers(init.headers)
  if (target.origin === server.origin) return headers
  for (const [name, value] of Object.entries(own)) {
    if (headers.get(name) === value.trim()) headers.delete(name)
  }
  return headers
}

function unreachable(cause: unknown): never {
  if (cause instanceof OAuthAnswerError) throw cause
  if (cause instanceof RedirectRefusedError) throw new OAuthAnswerError(cause.message, { cause })
  throw new OAuthUnreachableError('fetch failed', { cause })
}

/** Reads an answer whole. Of an error only the code is kept: descriptions may quote what was sent. */
async function read(response: Response): Promise<Answer> {
  const { status, statusText, headers, ok, body } = response
  const init = { status, statusText, headers: new Headers(headers) }
  // The text is decoded already.
  init.headers.delete('content-encoding')
  init.headers.delete('content-length')
  if (body === null) return { init, text: null }
  let given: unknown
  try {
    given = JSON.parse(await response.text())
  } catch {
    if (ok) throw new OAuthAnswerError('the authorization server does not answer with JSON')
  }
  const parts = typeof given === 'object' && given !== null ? given : {}
  if (ok && !('error' in parts)) return { init, text: JSON.stringify(given) }
  const error = codeIn(Reflect.get(parts, 'error'))
  return { init, text: JSON.stringify({ error }) }
}

const responseOf = ({ init, text }: Answer): Response => new Response(text, init)

/** What two requests that refresh the same token have in common. */
function refreshOf(target: URL, { body }: RequestInit): string | undefined {
  if (!(body instanceof URLSearchParams)) return undefined
  return body.get('grant_type') === 'refresh_token' ? `${target.href} ${body}` : undefined
}
