import { describe, expect, it } from 'vitest'
import { defineProvider } from './define-provider.ts'
import type { ProviderDefinition } from './provider-definition.ts'

const nothing = () => {
  throw new Error('not asked')
}

const definition: ProviderDefinition = {
  api: 'own',
  provider: 'own',
  version: 1,
  detect: () => false,
  decode: nothing,
  decodeStream: nothing,
  encode: nothing,
  requestBody: nothing,
  errors: nothing,
}

const loopback = {
  route: /own/,
  basePath: '',
  isStream: () => true,
  frame: () => '',
  errorBody: () => ({}),
  errorEvent: () => ({}),
}

describe('defineProvider', () => {
  it('gives a frozen copy', () => {
    const defined = defineProvider({ ...definition, loopback })
    expect(defined).toEqual({ ...definition, loopback })
    expect(Object.isFrozen(defined)).toBe(true)
  })

  it.each([
    ['vaildate', { vaildate: nothing }],
    ['version', { version: Number.NaN }],
    ['title', { title: 5 }],
    ['abilities', { abilities: [] }],
    ['abilities.appendtools', { abilities: { appendtools: true } }],
    ['abilities.appendTools', { abilities: { appendTools: 'yes' } }],
    ['loopback', { loopback: 5 }],
    ['loopback.route', { loopback: { ...loopback, route: '/own' } }],
    ['loopback.basePath', { loopback: { ...loopback, basePath: undefined } }],
    ['loopback.errorEvent', { loopback: { ...loopback, errorEvent: undefined } }],
  ])('refuses a wrong `%s`', (path, wrong) => {
    expect(() => defineProvider({ ...definition, ...wrong } as never)).toThrow(
      expect.objectContaining({ code: 'E_INVALID_INPUT', data: expect.objectContaining({ path }) }),
    )
  })

  it('refuses an instance of a class, whose methods a copy does not have', () => {
    class Own {
      readonly api = 'own'
      readonly provider = 'own'
      readonly version = 1
      detect = () => false
      decode() {}
    }
    expect(() => defineProvider(new Own() as never)).toThrow('`decode` of `defineProvider`')
  })
})
