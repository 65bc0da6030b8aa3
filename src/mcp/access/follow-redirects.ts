/** A redirect that was not followed. */
export class RedirectRefusedError extends Error {
  override name = 'RedirectRefusedError'
  /** Whether the server may have carried the request out: "see other" is also an answer to one that succeeded. */
  readonly mayBeDone: boolean

  constructor(message: string, { mayBeDone = false } = {}) {
    super(message)
    this.mayBeDone = mayBeDone
  }
}

const REDIRECTS = [301, 302, 303, 307, 308]
/** These repeat a request as it is. The others would turn it into a GET. */
const REPEATING = [307, 308]
const MAX_REDIRECTS = 3

/**
 * A `fetch` that asks before it follows a redirect: the request has keys and arguments that are meant for one address.
 * `check` throws for an address that must not get them.
 */
export function followRedirects(
  fetch: typeof globalThis.fetch,
  check: (target: URL) => void,
): typeof globalThis.fetch {
  return async (input, init = {}) => {
    let target = new URL(input instanceof Request ? input.url : input)
    const isRead = (init.method ?? 'GET') === 'GET'
    for (let count = 0; ; count += 1) {
      const response = await fetch(target, { ...init, redirect: 'manual' })
      const location = response.headers.get('location')
      // A browser shows a redirect without its address.
      const isHidden = response.type === 'opaqueredirect'
      if (!isHidden && (!REDIRECTS.includes(response.status) || location === null)) return response
      await response.body?.cancel()
      if (!isRead && !REPEATING.includes(response.status)) {
        throw new RedirectRefusedError('the server answers a request with a page', {
          mayBeDone: true,
        })
      }
      const next = location === null ? undefined : urlIn(location, target)
      if (next === undefined) {
        throw new RedirectRefusedError('the server redirects to an address that cannot be read')
      }
      if (count === MAX_REDIRECTS) {
        throw new RedirectRefusedError(`the server redirects more than ${MAX_REDIRECTS} times`)
      }
      check(next)
      target = next
    }
  }
}

const urlIn = (location: string, base: URL): URL | undefined =>
  URL.canParse(location, base) ? new URL(location, base) : undefined

/** Allows addresses of one origin. */
export const onlyOrigin =
  ({ origin }: URL) =>
  (target: URL): void => {
    if (target.origin === origin) return
    throw new RedirectRefusedError(
      `the server redirects to another address (${target.origin}): write that as its \`url\` if you trust it`,
    )
  }
