import { describe, expect, it } from 'vitest'
import { followRedirects, onlyOrigin } from './follow-redirects.ts'
import { oauthFetch } from './oauth-fetch.ts'

const SERVER = new URL('https://shop.example/mcp')

/** A network that answers by address, and what was sent to it. */
function network(answers: Readonly<Record<string, readonly [number, string]>>) {
  const sent: string[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    sent.push(`${request.method} ${request.url} ${await request.text()}`.trim())
    expect(request.redirect).toBe('manual')
    const [status, location] = answers[request.url] ?? [200, '']
    if (location === '') return Response.json({ ok: true })
    return new Response(null, { status, headers: { location } })
  }
  return { sent, fetch }
}

const MESSAGE = {
  method: 'POST',
  body: 'call',
  headers: { accept: 'application/json, text/event-stream', 'x-key': 'secret' },
}

describe('followRedirects', () => {
  it('repeats a message at another path of the same server', async () => {
    const { sent, fetch } = network({ 'https://shop.example/mcp': [307, '/mcp/'] })
    const ask = followRedirects(fetch, onlyOrigin(SERVER))
    expect((await ask(SERVER, MESSAGE)).status).toBe(200)
    expect(sent).toEqual([
      'POST https://shop.example/mcp call',
      'POST https://shop.example/mcp/ call',
    ])
  })

  it.each([
    ['https://other.example/mcp', 307, 'https://other.example'],
    ['http://shop.example/mcp', 308, 'http://shop.example'],
    ['//other.example/mcp', 307, 'https://other.example'],
    ['/elsewhere', 302, 'with a page'],
    ['http://[', 307, 'cannot be read'],
    ['/mcp', 307, 'more than 3 times'],
  ])('sends a message nowhere else: %s with %i', async (location, status, words) => {
    const { sent, fetch } = network({ 'https://shop.example/mcp': [status, location] })
    const ask = oauthFetch(SERVER, {}, fetch)
    await expect(ask(SERVER, MESSAGE)).rejects.toThrow(words)
    expect(new Set(sent)).toEqual(new Set(['POST https://shop.example/mcp call']))
  })
})

describe('oauthFetch', () => {
  const METADATA = 'https://login.example/.well-known/oauth-authorization-server'
  const TOKEN = 'https://login.example/token'

  it('follows a redirect of metadata to an address that it may ask', async () => {
    const { sent, fetch } = network({ [METADATA]: [302, 'https://id.example/metadata'] })
    expect((await oauthFetch(SERVER, {}, fetch)(METADATA)).status).toBe(200)
    expect(sent).toEqual([`GET ${METADATA}`, 'GET https://id.example/metadata'])
  })

  it('takes the headers of the server to no other origin', async () => {
    const seen: (string | null)[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { url, headers } = new Request(input, init)
      seen.push(headers.get('x-key'), headers.get('accept'))
      if (!url.startsWith(SERVER.origin)) return Response.json({ ok: true })
      return new Response(null, { status: 302, headers: { location: 'https://id.example/' } })
    }
    const ask = oauthFetch(SERVER, { 'x-key': 'secret' }, fetch)
    const headers = { 'x-key': 'secret', accept: 'application/json' }
    await ask(`${SERVER.origin}/.well-known/oauth-protected-resource`, { headers })
    expect(seen).toEqual(['secret', 'application/json', null, 'application/json'])
  })

  it.each(['http://127.0.0.1:6379/', 'http://login.example/', 'https://localhost/x'])(
    'follows no redirect of metadata to %s',
    async (location) => {
      const { sent, fetch } = network({ [METADATA]: [302, location] })
      await expect(oauthFetch(SERVER, {}, fetch)(METADATA)).rejects.toThrow('must be `https`')
      expect(sent).toEqual([`GET ${METADATA}`])
    },
  )

  it.each([
    [302, 'with a page'],
    [307, 'redirects to another address'],
  ])('sends no code to where a token endpoint redirects with %i', async (status, words) => {
    const { sent, fetch } = network({ [TOKEN]: [status, 'https://other.example/token'] })
    const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'secret' })
    const ask = oauthFetch(SERVER, {}, fetch)
    await expect(ask(TOKEN, { method: 'POST', body })).rejects.toThrow(words)
    expect(sent).toHaveLength(1)
  })
})
