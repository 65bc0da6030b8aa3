import type OpenAI from 'openai'
import type { ResponseGuard } from '../../model/response-guard.ts'

/** Under this key a request's options name its guard; `fetch` ignores it. */
const GUARD = Symbol('the guard of a request')

type Fetch = (input: unknown, init?: { readonly [GUARD]?: ResponseGuard }) => Promise<Response>

const known = new WeakSet<object>()

/**
 * The options of one request, whose error bodies go through the guard. The client reads such bodies by itself,
 * whole, and has no hook for it, so its `fetch` is wrapped once; requests without a guard pass unchanged.
 */
export function guardedOptions(
  client: OpenAI,
  guard: ResponseGuard,
  signal: AbortSignal | undefined,
): OpenAI.RequestOptions {
  const inner = (client as unknown as { readonly fetch?: Fetch }).fetch
  if (!known.has(client) && typeof inner === 'function') {
    const wrapped: Fetch = async (input, init) => {
      const response = await inner.call(undefined, input, init)
      const watching = response.ok ? undefined : init?.[GUARD]
      return watching === undefined ? response : watching.watch(response)
    }
    // A frozen client keeps its own.
    Reflect.set(client, 'fetch', wrapped)
    known.add(client)
  }
  return { fetchOptions: { [GUARD]: guard } as object, ...(signal !== undefined && { signal }) }
}
