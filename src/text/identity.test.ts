import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { Identity, identityField } from './identity.ts'

describe('Identity', () => {
  it('keeps what systems and what the model see apart', () => {
    const identity = new Identity({ identifier: 7, representation: 'Ada' })
    expect(identity.identifier).toBe(7)
    expect(String(identity.representation)).toBe('Ada')
    expect(JSON.parse(JSON.stringify(identity))).toEqual({ identifier: 7, representation: 'Ada' })
  })

  it.each([
    ['identifier', ''],
    ['identifier', Number.NaN],
    ['identifier', Number.POSITIVE_INFINITY],
    ['representation', 5],
  ])('refuses a wrong %s', (key, value) => {
    const raw = { identifier: 'a', representation: 'b', [key]: value }
    expect(() => new Identity(raw as never)).toThrow(`\`Identity.${key}\``)
  })

  it('is made from one string where a field allows it', () => {
    const identity = new Identity({ identifier: 'bob', representation: 'bob' })
    expect(v.parse(identityField, 'bob')).toEqual(identity)
    expect(v.parse(identityField, identity)).toBe(identity)
    expect(v.parse(identityField, { identifier: 'bob', representation: 'bob' })).toEqual(identity)
    expect(v.is(identityField, '')).toBe(false)
  })
})
