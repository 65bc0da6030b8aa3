import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inRoot } from '../../../scripts/project.mjs'
import { toolNamed } from '../../../test/mcp/wire-server.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../../turn/turn-runner.ts'
import { mcpClient } from './mcp-client.ts'
import { mcpTools } from './mcp-tools.ts'

describe('a server that is a process', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bobbin-mcp-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is started, asked, and left in doubt when it dies in the middle of a write', async () => {
    const effects = join(folder, 'effects')
    const args = [inRoot('test', 'mcp', 'stdio-server.mjs'), effects]
    const tools = await mcpTools(mcpClient({ command: process.execPath, args }))
    const model = scriptedModel([
      [{ call: 'echo', args: { a: 1 } }],
      [{ call: 'die' }],
      [{ text: 'Done.' }],
    ])
    const runner = new TurnRunner({ model, tools, policy: 'open' })
    const { toolCalls } = await runner.run({ message: 'Go.' })
    await tools.close()
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['ok', 'in-doubt'])
    expect(readFileSync(effects, 'utf8')).toBe('die\n')
  })

  it('is started again when it dies in the middle of a read', async () => {
    const effects = join(folder, 'effects')
    const args = [inRoot('test', 'mcp', 'stdio-server.mjs'), effects]
    const open = mcpClient({ command: process.execPath, args })
    const tools = await mcpTools(open, { effects: { stumble: 'read' } })
    const model = scriptedModel([[{ call: 'stumble' }], [{ text: 'Done.' }]])
    const { toolCalls } = await new TurnRunner({ model, tools }).run({ message: 'Go.' })
    await tools.close()
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['ok'])
    expect(readFileSync(effects, 'utf8')).toBe('stumble\nstumble\n')
  })

  it('says what a process wrote that could not be started', async () => {
    const script = 'console.error("no \\u001b[31mlicence"); process.exit(1)'
    const open = mcpClient({ command: process.execPath, args: ['-e', script] })
    await expect(open()).rejects.toThrow('It wrote: no \\u{1B}[31mlicence')
  })
})

describe('a server over HTTP', () => {
  let server: Server | undefined
  afterEach(() => server?.close())

  it('cannot fill the memory with one result', async () => {
    let sent = 0
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const { id, method } = JSON.parse(await bodyOf(request)) as { id: number; method: string }
      const answer = (result: object) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      }
      if (method === 'initialize') {
        const serverInfo = { name: 'huge', version: '1' }
        const capabilities = { tools: {} }
        return answer({ protocolVersion: '2025-11-25', capabilities, serverInfo })
      }
      if (method === 'tools/list') return answer({ tools: [toolNamed('t')] })
      if (method !== 'tools/call') {
        response.statusCode = method === 'server/discover' ? 400 : 202
        return response.end()
      }
      response.setHeader('content-type', 'application/json')
      response.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`)
      response.setMaxListeners(0)
      const chunk = 'x'.repeat(1024 * 1024)
      for (; sent < 1024 && !response.destroyed; sent += 1) {
        if (!response.write(chunk)) {
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
        }
      }
      return response.end('"}]}}')
    }
    server = createServer((request, response) => void respond(request, response))
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const tools = await mcpTools(mcpClient({ url: `http://127.0.0.1:${port}/mcp` }))
    const model = scriptedModel([[{ call: 't' }], [{ text: 'Done.' }]])
    const { toolCalls } = await new TurnRunner({ model, tools }).run({ message: 'Go.' })
    await tools.close()
    expect(toolCalls[0]?.settlement).toBe('in-doubt')
    expect(sent).toBeLessThan(64)
  })
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body === '' ? '{}' : body
}
