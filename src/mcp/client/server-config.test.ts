import { Client } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { mcpOAuth } from '../access/mcp-oauth.ts'
import { mcpClient } from './mcp-client.ts'
import { mcpTools } from './mcp-tools.ts'

describe('mcpClient', () => {
  it.each([
    [{ command: 'node', arg: ['x'] }, '`arg` of `mcpClient` is not known: use `args`'],
    [{ url: 'https://shop.example', header: {} }, 'is not known: use `headers`'],
    [{ url: 'https://shop.example', prefix: 'x_' }, 'is not one of url, headers, type'],
    [{ command: 'node', type: 'http' }, 'must be `stdio` beside `command`'],
    [{ command: 'node', url: 'https://shop.example' }, 'must be `{ command, args, env }`'],
  ])('refuses %j', (config, message) => {
    expect(() => mcpClient(config as never)).toThrow(message)
  })

  it.each([
    { type: 'stdio', command: 'node', args: [], env: {}, cwd: '.' } as const,
    { type: 'http', url: 'https://shop.example', headers: {} } as const,
  ])('takes what files with `mcpServers` have: %j', (config) => {
    expect(mcpClient(config)).toBeTypeOf('function')
  })

  it('never prints a password in an address', () => {
    const url = 'http://user:hunter2@127.0.0.1:9/mcp'
    const options = { url, redirectUrl: 'http://127.0.0.1:9/cb', storage: new Map() }
    for (const make of [() => mcpClient({ url }), () => mcpOAuth(options)]) {
      expect(make).toThrow(/^(?!.*hunter2).*must have no user and password/)
    }
  })
})

describe('mcpTools', () => {
  it('refuses a client that is not connected', async () => {
    const client = new Client({ name: 'x', version: '1' })
    const message = 'must be connected: `await client.connect(transport)`'
    await expect(mcpTools(client)).rejects.toThrow(message)
    await expect(mcpTools(() => Promise.resolve(client))).rejects.toThrow(message)
  })
})
