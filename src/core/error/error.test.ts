import { describe, expect, expectTypeOf, it } from 'vitest'
import { isInstanceOf } from './brand.ts'
import { BobbinError, isBobbinError } from './error.ts'

const error = () => new BobbinError('E_JSON_TOO_DEEP', 'Too deep.', { limit: 3 }, { cause: 'why' })

describe('BobbinError', () => {
  it('carries code, data, message and cause', () => {
    const thrown = error()
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown.name).toBe('BobbinError')
    expect(thrown.cause).toBe('why')
    expect(JSON.parse(JSON.stringify(thrown))).toEqual({
      code: 'E_JSON_TOO_DEEP',
      message: 'Too deep.',
      data: { limit: 3 },
    })
  })
})

describe('isBobbinError', () => {
  it('knows the class, and one code of it', () => {
    const thrown: unknown = error()
    expect(isBobbinError(thrown)).toBe(true)
    expect(isBobbinError(thrown, 'E_JSON_TOO_DEEP')).toBe(true)
    expect(isBobbinError(thrown, 'E_TOOL_COLLISION')).toBe(false)
    expect(isBobbinError(new Error('E_JSON_TOO_DEEP'))).toBe(false)
    if (isBobbinError(thrown, 'E_JSON_TOO_DEEP')) {
      expectTypeOf(thrown.data).toEqualTypeOf<{ readonly limit: number }>()
    }
  })
})

describe('isInstanceOf', () => {
  it('asks the brand of the class and never its name', () => {
    class Named extends Error {}
    Object.defineProperty(Named, 'name', { value: 'BobbinError' })
    expect(isInstanceOf(new Named(), 'BobbinError')).toBe(false)
    expect(isInstanceOf(Object.create(BobbinError.prototype), 'BobbinError', BobbinError)).toBe(
      false,
    )
    const muted = Object.create(BobbinError.prototype, {
      [Symbol.for('bobbin/BobbinError')]: { value: undefined },
    })
    expect(isInstanceOf(muted, 'BobbinError', BobbinError)).toBe(false)
    expect(isInstanceOf(error(), 'BobbinError', BobbinError)).toBe(true)
  })

  it('falls back to instanceof for classes that have no brand', () => {
    class Mine {}
    expect(isInstanceOf(new Mine(), 'Mine', Mine)).toBe(true)
    expect(isInstanceOf({}, 'Mine', Mine)).toBe(false)
    expect(isInstanceOf(new Mine(), 'Mine')).toBe(false)
  })

  it('believes whoever answers under the brand: it knows honest copies, not forgers', () => {
    const brand = Symbol.for('bobbin/ToolCall')
    expect(isInstanceOf({ [brand]: () => true }, 'ToolCall')).toBe(true)
    expect(isInstanceOf({ [brand]: () => 'yes' }, 'ToolCall')).toBe(false)
    expect(isInstanceOf({ [brand]: true }, 'ToolCall')).toBe(false)
  })

  it('survives values that answer with an error', () => {
    const hostile = {
      [Symbol.for('bobbin/ToolCall')]() {
        throw new Error('no')
      },
    }
    expect(isInstanceOf(hostile, 'ToolCall')).toBe(false)
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const trap = () => {
      throw new Error('no')
    }
    for (const value of [revoked.proxy, new Proxy({}, { get: trap, getPrototypeOf: trap })]) {
      expect(isInstanceOf(value, 'ToolCall')).toBe(false)
      expect(isInstanceOf(value, 'Mine', class {})).toBe(false)
    }
    for (const value of [null, undefined, 1, 'x', () => undefined]) {
      expect(isInstanceOf(value, 'ToolCall')).toBe(false)
    }
  })

  it('survives names that cannot be read', () => {
    const trap = () => {
      throw new Error('no')
    }
    for (const name of [Symbol('x'), Object.create(null), { toString: trap }]) {
      for (const value of [1, {}, error()]) {
        expect(isInstanceOf(value, name as string, BobbinError)).toBe(false)
      }
    }
  })
})
