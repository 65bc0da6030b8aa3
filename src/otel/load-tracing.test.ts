import { describe, expect, it } from 'vitest'
import { loadedOnce, requireApi } from './load-tracing.ts'

describe('loading OpenTelemetry', () => {
  it('names the package that is missing, and how to install it', async () => {
    const failure = requireApi(async () => {
      throw new Error("Cannot find package '@opentelemetry/api'")
    })
    await expect(failure).rejects.toMatchObject({
      code: 'E_MISSING_PACKAGE',
      message: expect.stringContaining('run `npm install @opentelemetry/api`') as unknown,
      data: { package: '@opentelemetry/api' },
    })
  })

  it('is tried again after it failed, and not after it worked', async () => {
    let tries = 0
    const load = loadedOnce(async () => {
      tries++
      if (tries === 1) throw new Error('not yet')
      return tries
    })
    await expect(load()).rejects.toThrow('not yet')
    expect([await load(), await load(), await Promise.all([load(), load()])]).toEqual([
      2,
      2,
      [2, 2],
    ])
  })
})
