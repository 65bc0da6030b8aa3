import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { thrownText } from './thrown-text.ts'

const boom = () => {
  throw new Error('boom')
}
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const UNREADABLE = 'a value that cannot be shown as text was thrown'

describe('thrownText', () => {
  it.each<[string, unknown, string]>([
    ['an error', new TypeError('no'), 'no'],
    ['an error of another realm', runInNewContext('new Error("there")'), 'there'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['what looks like an error', { message: 'as if' }, 'as if'],
    ['an error whose message is no text', Object.assign(new Error(), { message: 7 }), '7'],
    ['text', 'plain', 'plain'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a number', 404, '404'],
    ['an object without a text form', Object.create(null), UNREADABLE],
    ['an object whose text form throws', { toString: boom }, UNREADABLE],
    ['an object whose text form is an object', { toString: () => ({}) }, UNREADABLE],
    [
      'an error whose message throws',
      Object.create(Error.prototype, { message: { get: boom } }),
      UNREADABLE,
    ],
    ['a proxy that was revoked', revoked.proxy, UNREADABLE],
  ])('tells %s', (_, thrown, text) => {
    expect(thrownText(thrown)).toBe(text)
  })
})
