import type { GenerateContentConfig, HttpOptions } from '@google/genai'
import type { SendContext } from '../../model/wire-model.ts'

type Fetch = NonNullable<HttpOptions['fetch']>

/** The HTTP options of one request, with a `fetch` whose responses are watched while the client reads them. */
export function watchedBy(
  watch: SendContext['watch'],
  client: object,
  { httpOptions }: GenerateContentConfig = {},
): HttpOptions {
  const own = (client as { readonly httpOptions?: HttpOptions }).httpOptions
  const inner = httpOptions?.fetch ?? own?.fetch ?? patientFetch
  const fetch: Fetch = async (...request) => watch(await inner(...request))
  return { ...httpOptions, fetch }
}

/**
 * The platform's `fetch`, for clients without their own: without Node's limit of five minutes on silence, which a
 * long answer exceeds.
 */
export const patientFetch: Fetch = (input, init) => {
  const dispatcher = {
    dispatch: (options: object, handler: unknown) =>
      globalDispatcher()?.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  }
  const isNode = globalDispatcher() !== undefined
  return fetch(input, isNode ? ({ dispatcher, ...init } as RequestInit) : init)
}

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean
}

function globalDispatcher(): Dispatcher | undefined {
  // Node loads its HTTP client when one of its classes is first used.
  void new Headers()
  const known = globalThis as { readonly [name: symbol]: Dispatcher | undefined }
  return known[Symbol.for('undici.globalDispatcher.1')]
}
