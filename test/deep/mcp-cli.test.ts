import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { httpServer } from '../../src/cli/run/node-http.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { mcpServer } from '../../src/mcp/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { Tool } from '../../src/tools/tool.ts'
import { cli } from '../cli/in-process.ts'
import { buildPackage } from '../cli/incident-agent.ts'
import { runInTerminal } from '../cli/pseudo-terminal.ts'

const bobbin = inRoot('dist', 'cli', 'main.js')
const env = { PATH: process.env['PATH'], TERM: 'xterm-256color', USER: 'tester' }

let folder: string
beforeAll(async () => {
  await buildPackage()
  folder = mkdtempSync(inRoot('.cache', 'mcp-cli-'))
  const stdio = {
    command: process.execPath,
    args: [inRoot('test', 'mcp', 'stdio-server.mjs'), join(folder, 'effects')],
  }
  const small = {
    command: process.execPath,
    args: [bobbin, 'mcp', 'serve', 'small.mjs', '--store', 'small.db'],
    cwd: folder,
  }
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { test: stdio, small } }))
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
  const program = `import { Tool } from 'bobbin-adk'\nexport const tools = [${tool}]\n`
  writeFileSync(join(folder, 'small.mjs'), program)
  writeFileSync(join(folder, 'stubborn.mjs'), STUBBORN)
  const stubborn = (...args: readonly string[]) => ({
    command: process.execPath,
    args: ['stubborn.mjs', ...args],
  })
  const agentWith = (mcpServers: object) => `
    console.log('loaded')
    export const mcpServers = ${JSON.stringify(mcpServers)}
    export const executor = ({ turnToolCalls: [call] }) =>
      call ? { answer: 'ran ' + call.settlement } : { calls: [{ tool: 's_wait', args: {} }] }
  `
  const write = (name: string, servers: object) =>
    writeFileSync(join(folder, name), agentWith(servers))
  write('slow.mjs', { s: stubborn('slow.pids', 'wait') })
  write('short.mjs', { s: stubborn('short.pids') })
  write('mute.mjs', { s: stubborn('mute.pids', 'mute') })
  write('stuck.mjs', { s: stubborn('stuck.pids', 'mute') })
  write('broken.mjs', { s: stubborn('broken.pids'), t: { command: 'no-such-program-here' } })
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('bobbin mcp', () => {
  it('lists the tools of a server of the file, and calls one', async () => {
    const listed = await cli(['mcp', 'list', 'test'], { cwd: folder })
    expect(listed).toEqual({
      code: 0,
      stdout:
        'echo     The tool echo.\ndie      The tool die.\nstumble  The tool stumble.\nform     The tool form.\n',
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
    await expect.poll(() => said, { timeout: 10_000 }).toContain('/mcp (')
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
      'test_stumble',
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
    await expect.poll(() => said, { timeout: 10_000 }).toContain('/mcp ')
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

/**
 * A server that neither the end of its input nor a signal ends. Its arguments are the file for its process ids, and whether it is
 * `mute` or lets calls `wait`.
 */
const STUBBORN = `
  import { appendFileSync } from 'node:fs'
  import { createInterface } from 'node:readline'
  const [pids, mode] = process.argv.slice(2)
  appendFileSync(pids, process.pid + '\\n')
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
  setInterval(() => {}, 1000)
  const tool = { name: 'wait', inputSchema: { type: 'object' } }
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (id === undefined || mode === 'mute') return
    const answer = (rest) => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...rest }))
    if (method === 'initialize') {
      const serverInfo = { name: 'stubborn', version: '1' }
      return answer({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } })
    }
    if (method === 'tools/list') return answer({ result: { tools: [tool] } })
    if (method !== 'tools/call') return answer({ error: { code: -32601, message: 'no' } })
    if (mode === 'wait') return appendFileSync(pids + '.called', '')
    answer({ result: { content: [{ type: 'text', text: 'done' }] } })
  })
`

/** The processes of a stubborn server that still live. */
function alive(pids: string): readonly number[] {
  const file = join(folder, pids)
  const started = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
  expect(started.length).toBeGreaterThan(0)
  return started.filter((pid) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  })
}

/** A process that was killed is listed until the system has noticed; it may take its time. */
async function noneLives(pids: string): Promise<void> {
  await expect.poll(() => alive(pids), { timeout: 15_000 }).toEqual([])
}

/** Runs a command, and interrupts it, once or more often, when a file appears. */
async function command(args: readonly string[], file?: string, interruptions = 1) {
  const child = spawn(process.execPath, [bobbin, ...args], { cwd: folder, env, stdio: 'pipe' })
  const closed = once(child, 'close') as Promise<[number | null]>
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data) => (stdout += String(data)))
  child.stderr.on('data', (data) => (stderr += String(data)))
  if (file !== undefined) {
    await expect.poll(() => existsSync(join(folder, file)), { timeout: 20_000 }).toBe(true)
    for (let sent = 0; sent < interruptions; sent += 1) {
      child.kill('SIGINT')
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  const [code] = await closed
  return { code, stdout, stderr }
}

describe('servers of an agent that are processes', () => {
  const run = (name: string) => ['run', 'Go.', '-q', '-a', `${name}.mjs`, '--store', `${name}.db`]

  it('end with the command', async () => {
    expect((await command(run('short'))).stdout).toContain('ran ok')
    await noneLives('short.pids')
  }, 30_000)

  it('end when another one cannot be opened', async () => {
    const { code, stderr } = await command(run('broken'))
    expect(code).toBe(2)
    expect(stderr).toContain('The MCP server `t` could not be opened')
    await noneLives('broken.pids')
  }, 30_000)

  it('end when a server that never answers is interrupted', async () => {
    expect((await command(run('mute'), 'mute.pids')).code).toBe(130)
    await noneLives('mute.pids')
  }, 30_000)

  it('end with a command that is ended while it opens them', async () => {
    const started = performance.now()
    expect((await command(run('stuck'), 'stuck.pids', 2)).code).toBe(130)
    expect(performance.now() - started).toBeLessThan(15_000)
    await noneLives('stuck.pids')
  }, 30_000)

  it('end when a call is interrupted', async () => {
    expect((await command(run('slow'), 'slow.pids.called')).code).toBe(130)
    await noneLives('slow.pids')
  }, 30_000)
})

describe('bobbin mcp call in a terminal', () => {
  it('asks what the server asks, and leaves the result', async () => {
    const { screen, code } = await runInTerminal([bobbin, 'mcp', 'call', 'test', 'form'], {
      cwd: folder,
      env,
      typed: [
        { when: '[l]ater: ', type: 'a\r' },
        { when: 'as JSON: ', type: '{"city":"Ulm"}\r' },
      ],
    })
    expect(screen).toContain('MCP server `stdio` asks: Which city?')
    expect(screen.trimEnd().split('\n').at(-1)).toMatch(/^asked by \d+$/)
    expect(code).toBe(0)
  }, 30_000)

  it('leaves with 3 when the answer is put off, and with 130 on Ctrl-C', async () => {
    const ended = async (type: string) =>
      (
        await runInTerminal([bobbin, 'mcp', 'call', 'test', 'form'], {
          cwd: folder,
          env,
          typed: [{ when: '[l]ater: ', type }],
        })
      ).code
    expect(await ended('l\r')).toBe(3)
    expect(await ended('\u0003')).toBe(130)
  }, 30_000)
})

describe('bobbin mcp serve over stdio', () => {
  it('writes nothing but the protocol to standard output, and ends with its input', async () => {
    const args = ['mcp', 'serve', 'short.mjs', '--store', 'stdio.db']
    const child = spawn(process.execPath, [bobbin, ...args], { cwd: folder, env, stdio: 'pipe' })
    const closed = once(child, 'close') as Promise<[number | null]>
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (data) => (stdout += String(data)))
    child.stderr.on('data', (data) => (stderr += String(data)))
    await expect.poll(() => stderr, { timeout: 20_000 }).toContain('over stdio')
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    )
    await expect.poll(() => stdout, { timeout: 20_000 }).toContain('\n')
    child.stdin.end()
    expect(await closed).toEqual([0, null])
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'bobbin' } } })
    expect(stderr).toContain('loaded\n')
    await noneLives('short.pids')
  }, 30_000)

  it('calls a tool for a client', async () => {
    const called = await cli(['mcp', 'call', 'small', 'double', '{"n":4}'], { cwd: folder })
    expect(called).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"twice": 8') as string,
    })
  }, 30_000)
})

describe('bobbin mcp serve that ends during a write', () => {
  const agent = `
    import { writeFileSync } from 'node:fs'
    import { Tool } from ${JSON.stringify(inRoot('dist', 'index.js'))}
    const handler = (_, { signal }) => {
      writeFileSync('write.begun', '')
      return new Promise((resolve, reject) => signal.addEventListener('abort', reject))
    }
    const inputSchema = { type: 'object' }
    const write = new Tool({ name: 'write', description: 'Writes.', effect: 'write', inputSchema, handler })
    export const tools = [write]
    export const executor = ({ turnToolCalls: [call] }) =>
      call ? { answer: 'ran ' + call.settlement } : { calls: [{ tool: 'write', args: {} }] }
  `

  it.each([
    ['end', 'write'],
    ['SIGINT', 'write'],
    ['SIGTERM', 'write'],
    ['SIGTERM', 'ask'],
  ] as const)(
    'leaves it in doubt, and its turn ended: %s, %s',
    async (how, name) => {
      writeFileSync(join(folder, 'write.mjs'), agent)
      rmSync(join(folder, 'write.begun'), { force: true })
      const database = join(folder, `write-${how}-${name}.db`)
      const args = ['mcp', 'serve', 'write.mjs', '--store', database]
      const child = spawn(process.execPath, [bobbin, ...args], { cwd: folder, env, stdio: 'pipe' })
      const closed = once(child, 'close') as Promise<[number | null]>
      let errors = ''
      child.stderr.on('data', (data) => (errors += String(data)))
      child.stdout.resume()
      const clientInfo = { name: 'test', version: '1' }
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
      for (const message of [
        { id: 1, method: 'initialize', params: hello },
        { method: 'notifications/initialized' },
        { id: 2, method: 'tools/call', params: { name, arguments: { message: 'Go.' } } },
      ]) {
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      }
      const begun = () => existsSync(join(folder, 'write.begun'))
      await expect.poll(begun, { timeout: 20_000 }).toBe(true)
      if (how === 'end') child.stdin.end()
      else child.kill(how)
      expect([await closed, errors.includes('rror')]).toEqual([[0, null], false])
      const store = sqliteStore(database)
      const { entries } = await store.find({})
      await store.close()
      const data = entries.map(({ entry }) => JSON.stringify([entry.kind, entry.data]))
      const of = (kind: string) => data.filter((each) => each.startsWith(`["${kind}"`))
      expect(of('settlement').join('\n')).toContain('"settlement":"in-doubt"')
      expect(of('settlement').length).toBe(of('intent').length)
      expect(of('turn-end').length).toBe(of('turn-start').length)
    },
    60_000,
  )
})
