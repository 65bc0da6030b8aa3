import { httpError } from './http-error.ts'

const HERE = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses a request that a page of another site may have sent: its host must be this machine or one of `hosts`, and an
 * origin must be that of the host. A name that an attacker points at this machine is neither.
 */
export function refusedRequest(request: Request, hosts: readonly string[]): Response | undefined {
  const url = new URL(request.url)
  const host = request.headers.get('host') ?? url.host
  const name = hostname(`http://${host}`)
  const known = hosts.map((each) => hostname(`http://${each}`))
  if (name === undefined || ![...HERE, ...known].includes(name)) {
    return refusal('The Host of this request is not one of this server.')
  }
  const origin = request.headers.get('origin')
  if (origin === null) return undefined
  const from = URL.canParse(origin) ? new URL(origin) : undefined
  // Pages have these schemes. Others know no hosts, or know them by other rules.
  const isPage = from?.protocol === 'http:' || from?.protocol === 'https:'
  // Parsed alike, so that the usual port may be written or not.
  if (isPage && from.host === new URL(`${from.protocol}//${host}`).host) return undefined
  return refusal('The Origin of this request is not that of this server.')
}

const hostname = (url: string): string | undefined =>
  URL.canParse(url) ? new URL(url).hostname : undefined

/** True for the name or address of a host, without a scheme, a port, a path or a wildcard. */
export function isHost(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(`http://${value}`)) return false
  return /^([^\s/?#@:\\*]+|\[[0-9a-f:.]+\])$/i.test(value)
}

const refusal = (message: string): Response => httpError(403, -32_000, message)
