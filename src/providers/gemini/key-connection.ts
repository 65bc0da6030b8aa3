import { patientFetch } from './watched-fetch.ts'

/** A key of the Developer API, or a `fetch` that adds one. Responses are read as bytes. */
export type KeyConnection = {
  /** Where the service is, without version; Google's when absent. */
  readonly baseUrl?: string
} & (
  | {
      readonly apiKey: string
      /** The platform's, without a limit on silence, when absent. */
      readonly fetch?: typeof fetch
    }
  | {
      readonly apiKey?: undefined
      /** Adds what the service asks for. */
      readonly fetch: typeof fetch
    }
)

const GOOGLE = 'https://generativelanguage.googleapis.com'

/** Posts a body to a path of the service. The response is untouched, whatever its status. */
export function postWithKey(
  { apiKey, baseUrl = GOOGLE, fetch = patientFetch }: KeyConnection,
  path: string,
  body: object,
  signal: AbortSignal | undefined,
): Promise<Response> {
  return fetch(`${baseUrl.replace(/\/+$/, '')}/v1beta/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { 'x-goog-api-key': apiKey }),
    },
    body: JSON.stringify(body),
    // Another host must not get the key.
    redirect: 'error',
    ...(signal !== undefined && { signal }),
  })
}
