import { describe, expect, it } from 'vitest'
import { telemetryAddress, withoutCredentials } from './telemetry-address.ts'

const ALL = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const TRACES = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
const METRICS = 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'

describe('telemetryAddress', () => {
  it.each([
    [{}, 'http://localhost:4318'],
    [{ [ALL]: '  ' }, 'http://localhost:4318'],
    [
      { [ALL]: 'https://ann:secret@otel.example:4318/in?key=secret#secret' },
      'https://otel.example:4318/in',
    ],
    [{ [ALL]: 'http://a', [TRACES]: 'http://b/v1/traces' }, 'http://b/v1/traces and http://a'],
    [{ [TRACES]: 'http://a', [METRICS]: 'http://a' }, 'http://a'],
    [{ [ALL]: 'ann:secret@' }, 'an address that is not valid'],
    [{ [ALL]: 'secret' }, 'an address that is not valid'],
  ])('of %j is %s', (env, address) => {
    expect(telemetryAddress(env)).toBe(address)
  })
})

describe('withoutCredentials', () => {
  it('removes users, passwords and queries from the addresses in a text', () => {
    const text = "No answer of 'https://ann:se:cret@a.example/v1?key=secret', why? Ask //x@b/c."
    expect(withoutCredentials(text)).toBe("No answer of 'https://a.example/v1', why? Ask //b/c.")
  })
})
