import type OpenAI from 'openai'
import type { SendContext } from '../../model/wire-model.ts'

/** Under this key a request's options name who watches its response; `fetch` ignores it. */
const WATCH = Symbol('who watches a response')

type Fetch = (
  input: unknown,
  init?: { readonly [WATCH]?: SendContext['watch'] },
) => Promise<Response>

const known = new WeakSet<object>()

/**
 * The options of one request, whose error bodies are watched. The client reads such bodies by itself,
 * whole, and has no hook for it, so its `fetch` is wrapped once; the requests of others pass unchanged.
 */
export function guardedOptions(
  client: OpenAI,
  { signal, watch }: SendContext,
): OpenAI.RequestOptions {
  const inner = (client as unknown as { readonly fetch?: Fetch }).fetch
  if (!known.has(client) && typeof inner === 'function') {
    const wrapped: Fetch = async (input, init) => {
      const response = await inner.call(undefined, input, init)
      const watching = response.ok ? undefined : init?.[WATCH]
      return watching === undefined ? response : watching(response)
    }
    // A frozen client keeps its own.
    Reflect.set(client, 'fetch', wrapped)
    known.add(client)
  }
  return { fetchOptions: { [WATCH]: watch } as object, ...(signal !== undefined && { signal }) }
}
