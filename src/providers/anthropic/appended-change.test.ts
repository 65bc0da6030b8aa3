import { describe, expect, it } from 'vitest'
import { appends } from './appended-change.ts'

const endpoint = 'https://api.anthropic.com'

describe('appends', () => {
  it.each([
    ['claude-fable-5', true],
    ['claude-fable-5-1', true],
    ['claude-opus-4-8', true],
    ['claude-opus-4-7', false],
    ['claude-opus-5-20260801', true],
    ['claude-sonnet-5', false],
    ['claude-sonnet-5-5', true],
    ['claude-haiku-4-5-20251001', false],
    ['claude-3-5-sonnet-20241022', false],
    ['my-deployment', false],
  ])('knows whether %s takes system messages between others', (model, isTaken) => {
    expect(appends({ model, endpoint }) !== undefined).toBe(isTaken)
  })

  it('believes the application before the name of the model and the host', () => {
    const elsewhere = { model: 'claude-opus-5', endpoint: 'http://127.0.0.1' }
    expect(appends(elsewhere)).toBeUndefined()
    expect(appends({ ...elsewhere, appends: true })).toBeDefined()
    expect(appends({ model: 'claude-opus-5', endpoint, appends: false })).toBeUndefined()
  })

  it('has no words for tools where the request declares none', () => {
    const say = appends({ model: 'm', appends: true })
    const tool = { name: 't', description: '', inputSchema: {} }
    expect(say?.({ added: [tool], restored: [], removed: [], isBare: true })).toBeUndefined()
  })
})
