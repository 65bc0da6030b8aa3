import { describe, expect, it } from 'vitest'
import { chat, chatWith } from './chat/protocol.ts'
import { quirksFor } from './chat/wire/servers.ts'
import { responses } from './responses/protocol.ts'

const request = { items: [] }
const input = { model: 'gpt-5.6', stream: false, request, cacheKey: 'k' }
const OPENAI = 'https://api.openai.com/v1'
const keyIn = (body: object) => (body as { prompt_cache_key?: string }).prompt_cache_key

describe.each([
  [
    'openai-responses',
    (more: object) => responses.requestBody({ ...input, part: { input: [] }, ...more }),
  ],
  [
    'openai-chat',
    (more: object) => chat.requestBody({ ...input, part: { messages: [] }, ...more }),
  ],
])('prompt_cache_key of %s', (_, bodyOf) => {
  it.each<[object, string | undefined]>([
    [{ endpoint: OPENAI }, 'k'],
    [{ endpoint: 'https://eu.api.openai.com/v1' }, 'k'],
    [{ endpoint: OPENAI, cache: false }, undefined],
    [{ endpoint: OPENAI, cacheKey: undefined }, undefined],
    [{ endpoint: OPENAI, params: { prompt_cache_key: 'mine' } }, 'mine'],
    [{ endpoint: 'https://openai.com.example/v1' }, undefined],
    [{ endpoint: 'https://x.openai.azure.com/openai/v1' }, undefined],
    [{ endpoint: 'https://x.openai.azure.com/openai/v1', cache: true }, 'k'],
    [{ endpoint: 'no url' }, undefined],
    [{}, undefined],
  ])('with %j is %s', (more, key) => {
    expect(keyIn(bodyOf(more))).toBe(key)
  })
})

describe('prompt_cache_key of another server', () => {
  it('is sent where the server is known to take it', () => {
    const part = { messages: [] }
    const at = (server: 'fireworks' | 'groq') =>
      keyIn(chatWith(quirksFor(server)).requestBody({ ...input, part }))
    expect([at('fireworks'), at('groq')]).toEqual(['k', undefined])
    const grok = { ...input, part: { input: [] }, endpoint: 'https://api.x.ai/v1' }
    expect(keyIn(responses.requestBody(grok))).toBe('k')
  })
})
