import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { httpServer } from '../../src/cli/run/node-http.ts'
import { mcpClient, mcpServer, mcpTools } from '../../src/mcp/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { installed } from '../mcp/install.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-mcp-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program to its end, whatever that is. */
async function run(args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
  return { output: output.trim(), errors, signal }
}

describe('a form of a server', () => {
  it('is answered in a new process after client and server were killed, and completes once', async () => {
    const effects = join(folder, 'effects')
    const server = inRoot('test', 'mcp', 'stdio-server.mjs')
    const program = inRoot('test', 'mcp', 'form-process.mjs')
    const places = [join(folder, 'store.db'), server, effects]
    const asked = await run([program, 'ask', ...places])
    expect([asked.signal, asked.errors]).toEqual(['SIGKILL', ''])
    expect(JSON.parse(asked.output)).toEqual({ status: 'suspended', kind: 'input' })
    expect(existsSync(effects)).toBe(false)
    const answered = await run([program, 'answer', ...places])
    const { settled, said } = JSON.parse(answered.output) as { settled: string[]; said: string }
    expect(settled).toEqual(['ok'])
    // The state of the server that died: the new one was not asked from the start.
    expect(said).toMatch(/^asked by \d+$/)
    expect(readFileSync(effects, 'utf8')).toBe(
      'form {"city":{"action":"accept","content":{"city":"Oslo"}}}\n',
    )
  }, 60_000)
})

describe('a form of a Bobbin server', () => {
  it('is answered by new processes after client and server were killed, and takes effect once', async () => {
    const effects = join(folder, 'served-effects')
    const program = inRoot('test', 'mcp', 'form-process.mjs')
    const served = [inRoot('test', 'mcp', 'served-form.mjs'), join(folder, 'served.db'), effects]
    const places = [join(folder, 'client.db'), ...served]
    const asked = await run([program, 'ask', ...places])
    expect([asked.signal, asked.errors]).toEqual(['SIGKILL', ''])
    expect(JSON.parse(asked.output)).toEqual({ status: 'suspended', kind: 'input' })
    expect(existsSync(effects)).toBe(false)
    const pid = readFileSync(`${effects}.pid`, 'utf8')
    const answered = await run([program, 'answer', ...places])
    const { settled, said } = JSON.parse(answered.output) as { settled: string[]; said: string }
    expect([settled, said]).toEqual([['ok'], `asked by ${pid}`])
    expect(readFileSync(`${effects}.pid`, 'utf8')).not.toBe(pid)
    expect(readFileSync(effects, 'utf8')).toBe('{"city":"Oslo"}\n')
  }, 60_000)
})

/** Calls tools one after the other, as a model would. */
async function callAll(
  tools: Iterable<Tool>,
  calls: readonly { readonly tool: string; readonly args: Record<string, string | number> }[],
) {
  let next = 0
  const runner = new TurnRunner({
    tools,
    policy: 'open',
    executor: async () => {
      const call = calls[next++]
      return call === undefined ? { answer: 'Done.' } : { calls: [call] }
    },
  })
  const { toolCalls } = await runner.run({ message: 'Go.' })
  return toolCalls
}

/** A port of this machine that was free a moment ago, for a program that cannot choose one. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const textOf = async (results: unknown) =>
  (await (results as { asString(): Promise<string> }).asString()).trim()

describe('other implementations', () => {
  it('the reference server with everything', async () => {
    const place = await installed('@modelcontextprotocol/server-everything', '2026.8.31')
    const args = [join(place, 'dist', 'index.js'), 'stdio']
    const tools = await mcpTools(mcpClient({ command: process.execPath, args }))
    expect(tools.problems).toEqual([])
    expect([...tools].map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum']))
    const calls = await callAll(tools, [
      { tool: 'echo', args: { message: 'hello' } },
      { tool: 'get-sum', args: { a: 2, b: 3 } },
      { tool: 'get-tiny-image', args: {} },
      { tool: 'get-structured-content', args: { location: 'New York' } },
      { tool: 'get-resource-links', args: { count: 2 } },
    ])
    await tools.close()
    expect(calls.map(({ tool, settlement }) => [tool, settlement])).toEqual([
      ['echo', 'ok'],
      ['get-sum', 'ok'],
      ['get-tiny-image', 'ok'],
      ['get-structured-content', 'ok'],
      ['get-resource-links', 'ok'],
    ])
    expect(await textOf(calls[0]?.results)).toContain('hello')
    expect(calls[2]?.media?.[0]?.media.mimeType).toBe('image/png')
  }, 120_000)

  it('the reference server with everything, over HTTP', async () => {
    const place = await installed('@modelcontextprotocol/server-everything', '2026.8.31')
    const port = await freePort()
    const child = spawn(process.execPath, [join(place, 'dist', 'index.js'), 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    try {
      let said = ''
      child.stderr.on('data', (data) => (said += String(data)))
      await expect.poll(() => said, { timeout: 20_000 }).toContain(`port ${port}`)
      const tools = await mcpTools(mcpClient({ url: `http://127.0.0.1:${port}/mcp` }))
      const [echo, image] = await callAll(tools, [
        { tool: 'echo', args: { message: 'hello' } },
        { tool: 'get-tiny-image', args: {} },
      ])
      await tools.close()
      expect(await textOf(echo?.results)).toContain('hello')
      expect(image?.media?.[0]?.media.mimeType).toBe('image/png')
    } finally {
      child.kill()
    }
  }, 120_000)

  it('the reference server for files', async () => {
    const place = await installed('@modelcontextprotocol/server-filesystem', '2026.8.31')
    writeFileSync(join(folder, 'note.txt'), 'remember the bobbin\n')
    const args = [join(place, 'dist', 'index.js'), folder]
    const tools = await mcpTools(mcpClient({ command: process.execPath, args }), {
      trusted: true,
      approval: false,
    })
    const byName = new Map([...tools].map((tool) => [tool.name, tool.effect]))
    expect([byName.get('read_text_file'), byName.get('move_file')]).toEqual(['read', 'write'])
    const [read, written, outside] = await callAll(tools, [
      { tool: 'read_text_file', args: { path: join(folder, 'note.txt') } },
      { tool: 'write_file', args: { path: join(folder, 'new.txt'), content: 'wound' } },
      { tool: 'read_text_file', args: { path: '/etc/hostname' } },
    ])
    await tools.close()
    expect([read, written, outside].map((call) => call?.settlement)).toEqual(['ok', 'ok', 'failed'])
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('wound')
  }, 120_000)

  it('a client of the 1.x SDK, over a socket', async () => {
    const place = await installed('@modelcontextprotocol/sdk', '1.32.2')
    const load = createRequire(join(place, 'package.json'))
    const from = async (path: string) =>
      (await import(pathToFileURL(load.resolve(path)).href)) as Record<
        string,
        new (
          ...args: never[]
        ) => never
      >
    const { Client } = await from('@modelcontextprotocol/sdk/client/index.js')
    const { StreamableHTTPClientTransport } = await from(
      '@modelcontextprotocol/sdk/client/streamableHttp.js',
    )
    const add = new Tool({
      name: 'add',
      description: 'Adds.',
      inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
      effect: 'read',
      handler: ({ a = 0, b = 0 }) => ({ sum: a + b }),
    })
    const server = mcpServer({ tools: [add] })
    const http = httpServer((request) => server.handle(request))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const made = (Class: unknown, ...args: unknown[]) =>
      Reflect.construct(Class as new () => object, args) as {
        connect(transport: object): Promise<void>
        listTools(): Promise<{ tools: { name: string }[] }>
        callTool(params: object): Promise<{ structuredContent?: unknown }>
        close(): Promise<void>
      }
    const client = made(Client, { name: 'old', version: '1' })
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
    await client.connect(made(StreamableHTTPClientTransport, url))
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add'])
    const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 5 } })
    expect(result.structuredContent).toEqual({ sum: 7 })
    await client.close()
    await server.close()
    http.closeAllConnections()
    http.close()
  }, 120_000)
})
