import { describe, expect, it } from 'vitest'
import { retryAfter } from './provider-failure.ts'

describe('retryAfter', () => {
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7000],
    [{ 'retry-after': '-7' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
    [{}, undefined],
  ])('reads %j as %s', (headers, expected) => {
    expect(retryAfter(new Headers(headers as Record<string, string>))).toBe(expected)
  })

  it('takes the headers of any implementation', () => {
    expect(retryAfter(new Map([['retry-after', '2']]))).toBe(2000)
  })

  it.each([undefined, null, 'text', { get: 1 }])('finds nothing in %j', (headers) => {
    expect(retryAfter(headers)).toBeUndefined()
  })
})
