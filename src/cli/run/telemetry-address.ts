import type { Io } from '../terminal/io.ts'

const DEFAULT = 'http://localhost:4318'

const NAMES = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'] as const

/** Where telemetry goes, for people: without the credentials that an address may have. */
export function telemetryAddress(env: Io['env']): string {
  const all = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim() || DEFAULT
  const addresses = NAMES.map((name) => publicAddress(env[name]?.trim() || all))
  return [...new Set(addresses)].join(' and ')
}

const NOT_VALID = 'an address that is not valid'

/** An address without user, password, query and fragment. */
function publicAddress(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address)
    if (!/^https?:$/.test(protocol)) return NOT_VALID
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
  } catch {
    return NOT_VALID
  }
}

/** A text of the SDK without the credentials in its addresses. */
export const withoutCredentials = (text: string): string =>
  text.replace(/\/\/[^\s/@'"]*@/g, '//').replace(/(:\/\/[^\s?'"]*)\?[^\s'"]*/g, '$1')
