import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { httpServer } from '../../src/cli/run/node-http.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { mcpServer } from '../../src/mcp/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { cli } from '../cli/in-process.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(inRoot('.cache', 'mcp-cli-'))
  const stdio = { command: process.execPath, args: [inRoot('test', 'mcp', 'stdio-server.mjs')] }
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { test: stdio } }))
  // Made of plain files: an agent of a project would import the published package.
  const tool = `new Tool({ name: 'double', description: 'Doubles.', effect: 'read', inputSchema: { type: 'object', properties: { n: { type: 'number' } } }, handler: ({ n }) => ({ twice: 2 * n }) })`
  const agent = `
    import { Tool } from ${JSON.stringify(inRoot('src', 'index.ts'))}
    export const tools = [${tool}]
    export const mcpServers = { test: { ...${JSON.stringify(stdio)}, effects: { echo: 'read' } } }
    export const executor = ({ turnToolCalls }) => turnToolCalls.length > 0
      ? { answer: 'asked ' + turnToolCalls[0].tool }
      : { calls: [{ tool: 'test_echo', args: { a: 1 } }] }
  `
  writeFileSync(join(folder, 'agent.ts'), agent)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('bobbin mcp', () => {
  it('lists the tools of a server of the file, and calls one', async () => {
    const listed = await cli(['mcp', 'list', 'test'], { cwd: folder })
    expect(listed).toEqual({
      code: 0,
      stdout: 'echo  The tool echo.\ndie  The tool die.\nform  The tool form.\n',
      stderr: '',
    })
    const called = await cli(['mcp', 'call', 'test', 'echo', '{"a":1}'], { cwd: folder })
    expect(called).toEqual({ code: 0, stdout: '{"a":1}\n', stderr: '' })
  })

  it('says what is wrong with a server or a tool', async () => {
    const unknown = await cli(['mcp', 'list', 'nowhere'], { cwd: folder })
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('known are test')
    const form = await cli(['mcp', 'sing'], { cwd: folder })
    expect(form.stderr).toContain('use list, call or serve')
  })

  it('serves an agent file over HTTP, and gives an agent the tools of its servers', async () => {
    const stop = new AbortController()
    let said = ''
    const serving = runCli(['mcp', 'serve', 'agent.ts', '--port', '0', '--store', 'served'], {
      stdout: { write: () => true },
      stderr: { write: (data) => (said += String(data)) },
      stdin: process.stdin,
      env: {},
      cwd: folder,
      signal: stop.signal,
    })
    await expect.poll(() => said, { timeout: 10_000 }).toContain('/mcp\n')
    const url = /http:\S+/.exec(said)?.[0] ?? ''
    const listed = await cli(['mcp', 'list', url, '--json'], { cwd: folder })
    const names = listed.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { name: string }).name)
    expect(names.filter((name) => !name.startsWith('artifact_'))).toEqual([
      'double',
      'test_echo',
      'test_die',
      'test_form',
      'ask',
    ])
    const doubled = await cli(['mcp', 'call', url, 'double', '{"n":4}'], { cwd: folder })
    expect(doubled.stdout).toContain('"twice": 8')
    const message = '{"message":"Go."}'
    const asked = await cli(['mcp', 'call', url, 'ask', message], { cwd: folder })
    expect(asked.stdout).toContain('asked test_echo')
    stop.abort()
    expect(await serving).toBe(0)
  })

  it('serves the tools that the servers of an agent have now', async () => {
    const named = (name: string) =>
      new Tool({
        name,
        description: name,
        inputSchema: { type: 'object' },
        inline: true,
        handler: () => '',
      })
    const list = [named('a')]
    const source = mcpServer({ tools: list })
    const http = httpServer((request) => source.handle(request))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    const server = { url: `http://127.0.0.1:${port}/mcp` }
    const agent = `export const mcpServers = { far: ${JSON.stringify(server)} }\nexport const tools = []\n`
    writeFileSync(join(folder, 'changing.ts'), agent)
    const stop = new AbortController()
    let said = ''
    const serving = runCli(['mcp', 'serve', 'changing.ts', '--port', '0', '--store', 'served'], {
      stdout: { write: () => true },
      stderr: { write: (data) => (said += String(data)) },
      stdin: process.stdin,
      env: {},
      cwd: folder,
      signal: stop.signal,
    })
    await expect.poll(() => said, { timeout: 10_000 }).toContain('/mcp\n')
    const url = /http:\S+/.exec(said)?.[0] ?? ''
    list.push(named('b'))
    await expect
      .poll(
        async () => {
          source.toolsChanged()
          return (await cli(['mcp', 'list', url], { cwd: folder })).stdout
        },
        { timeout: 10_000 },
      )
      .toContain('far_b')
    stop.abort()
    expect(await serving).toBe(0)
    http.closeAllConnections()
    http.close()
    await source.close()
  })
})
