import { describe, expect, it } from 'vitest'
import { oauthFetch } from './oauth-fetch.ts'

const JSON_ONLY = { headers: { accept: 'application/json' } }

/** A client of one server, what it asked for, and what it gets. */
function client(server: string, answer: () => Response = () => Response.json({})) {
  const asked: string[] = []
  const fetch = oauthFetch(new URL(server), {}, (input) => {
    asked.push(input instanceof Request ? input.url : input.toString())
    return Promise.resolve(answer())
  })
  return { fetch, asked }
}

describe('oauthFetch', () => {
  it.each([
    'http://login.example/token',
    'http://10.0.0.1/token',
    'http://127.0.0.1/token',
    'https://127.0.0.1/token',
    'https://localhost/token',
    'https://me:word@login.example/token',
    'https://admin.localhost./token',
    'https://[::ffff:127.0.0.1]/token',
    'https://[::ffff:0:0]/token',
    'https://[::127.0.0.1]/token',
    'https://[64:ff9b::127.0.0.1]/token',
    'https://0.0.0.1/token',
    'https://[::ffff:10.0.0.1]/token',
    'https://10.0.0.1/token',
    'https://172.31.0.1/token',
    'https://192.168.1.1/token',
    'https://169.254.169.254/token',
    'https://100.127.0.1/token',
    'https://[fd00::1]/token',
    'https://[febf::1]/token',
  ])('does not let a server choose this address: %s', async (address) => {
    const { fetch, asked } = client('https://shop.example/mcp')
    await expect(fetch(address, JSON_ONLY)).rejects.toThrow('must be `https`')
    expect(asked).toEqual([])
  })

  it.each([
    ['https://shop.example/mcp', 'https://login.example/token'],
    ['http://shop.internal/mcp', 'http://shop.internal/.well-known/x'],
    ['http://127.0.0.1:1/mcp', 'http://localhost:2/token'],
    ['https://shop.example/mcp', 'https://172.32.0.1/token'],
    ['https://shop.example/mcp', 'https://100.128.0.1/token'],
    ['https://shop.example/mcp', 'https://[2001:db8::1]/token'],
    ['https://10.0.0.1/mcp', 'https://192.168.0.2/token'],
    ['http://127.0.0.1:1/mcp', 'https://10.0.0.1/token'],
  ])('lets the server %s choose %s', async (server, address) => {
    const { fetch, asked } = client(server)
    expect((await fetch(address, JSON_ONLY)).status).toBe(200)
    expect(asked).toEqual([address])
  })

  it('keeps of a refusal its code alone', async () => {
    const body = {
      error: 'invalid_grant',
      error_description: 'refresh-1 is used',
      more: 'refresh-1',
    }
    const { fetch } = client('https://shop.example', () => Response.json(body, { status: 400 }))
    const response = await fetch('https://login.example/token', JSON_ONLY)
    expect([response.status, await response.json()]).toEqual([400, { error: 'invalid_grant' }])
  })

  it('ends an answer that is a stream without end', async () => {
    const endless = () => {
      const body = new ReadableStream({
        pull: (controller) =>
          controller.enqueue(new TextEncoder().encode('data: x\n\n'.repeat(500))),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const { fetch } = client('https://shop.example', endless)
    await expect(fetch('https://login.example/token', JSON_ONLY)).rejects.toThrow(
      'does not answer with JSON',
    )
  })
})
