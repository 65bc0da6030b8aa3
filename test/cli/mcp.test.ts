import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { httpServer } from '../../src/cli/run/node-http.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { cli } from './in-process.ts'

const city = { type: 'string', description: 'Where \u001b[31mto look' } as const
const DEFINITIONS = [
  {
    name: 'weather',
    title: 'Weather',
    description: 'Tells the weather.\nSecond line.',
    inputSchema: { type: 'object', properties: { city }, required: ['city'] },
    annotations: { readOnlyHint: true },
  },
  { name: 'fail', description: 'Fails \u001b[31mred.', inputSchema: { type: 'object' } },
  { name: 'form', inputSchema: { type: 'object' } },
  { name: 'hid\u001b[31mden', inputSchema: { type: 'object' } },
] as const

const requestedSchema = { type: 'object', properties: { n: { type: 'number' } } } as const

interface Params {
  readonly name: string
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
}

function answer(params: Params, responses: unknown) {
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  if (params.name === 'fail') return { ...text('no \u001b[31mway'), isError: true }
  if (params.name === 'weather') {
    const found = { city: params.arguments?.['city'], sky: 'clear\u001b[0m' }
    return { ...text(JSON.stringify(found)), structuredContent: found }
  }
  if (responses !== undefined) return text(JSON.stringify(responses))
  const n = inputRequired.elicit({ message: 'How many?', requestedSchema })
  return inputRequired({ inputRequests: { n }, requestState: 'asked' })
}

let calls = 0
const handler = createMcpHandler(() => {
  const server = new Server({ name: 'sky', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [...DEFINITIONS] as never }))
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    calls += 1
    return answer(params, ctx.mcpReq.inputResponses)
  })
  return server
})
const empty = createMcpHandler(() => new Server({ name: 'empty', version: '1' }, {}))

let http: HttpServer
let cwd: string
beforeAll(async () => {
  http = httpServer((request) => (request.url.endsWith('/empty') ? empty : handler).fetch(request))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  cwd = mkdtempSync(join(tmpdir(), 'bobbin-mcp-cli-'))
  const servers = {
    sky: { url: `${url}/mcp` },
    own: { url: `${url}/mcp`, prefix: 'x_', trusted: true, only: ['weather', 'fail'] },
    wrong: { url: `${url}/mcp`, prefix: 'a b' },
    empty: { url: `${url}/empty` },
  }
  writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: servers }))
  writeFileSync(join(cwd, 'vscode.json'), JSON.stringify({ servers: { sky: servers.sky } }))
  writeFileSync(join(cwd, 'other.json'), JSON.stringify([]))
  const node = { command: process.execPath }
  const odd = {
    sky: { ...servers.sky, autoApprove: ['weather'] },
    lost: { ...node, cwd: '/no/such/folder' },
    loud: {
      ...node,
      args: ['-e', 'console.log("Welcome\\u001b[31m!"); setTimeout(() => {}, 100)'],
    },
  }
  writeFileSync(join(cwd, 'bom.json'), `\uFEFF${JSON.stringify({ mcpServers: odd })}`)
  const tool = `new Tool({ name: 'sky_weather', description: '', effect: 'read', inputSchema: { type: 'object' }, handler: () => 'own' })`
  const agent = (tools: string, sky: object) => `
    import { Tool } from ${JSON.stringify(inRoot('src', 'index.ts'))}
    export const tools = ${tools}
    export const mcpServers = { sky: ${JSON.stringify(sky)} }
    export const executor = ({ turnToolCalls: [call] }) =>
      call ? { answer: 'ran ' + call.tool } : { calls: [{ tool: 'sky_weather', args: { city: 'Ulm' } }] }`
  writeFileSync(join(cwd, 'good.ts'), agent('[]', servers.sky))
  writeFileSync(join(cwd, 'same.ts'), agent(`[${tool}]`, servers.sky))
  writeFileSync(join(cwd, 'disabled.ts'), agent('[]', { command: 'none', disabled: true }))
  writeFileSync(join(cwd, 'away.ts'), agent('[]', { command: 'no-such-program-here' }))
})
afterAll(() => {
  http.closeAllConnections()
  http.close()
  rmSync(cwd, { recursive: true, force: true })
})

const LEFT_OUT = 'bobbin: `hid\\u{1B}[31mden` cannot be used: its name has hidden characters\n'
const run = (...args: readonly string[]) => cli(['mcp', ...args], { cwd })

describe('bobbin mcp list', () => {
  it('aligns names and first lines, and shows what a terminal would obey', async () => {
    expect(await run('list', 'sky')).toEqual({
      code: 0,
      stdout: 'weather  Tells the weather.\nfail     Fails \\u{1B}[31mred.\nform\n',
      stderr: LEFT_OUT,
    })
  })

  it('cuts lines to the width of a terminal', async () => {
    let stdout = ''
    const code = await runCli(['mcp', 'list', 'sky'], {
      stdout: { write: (data) => (stdout += String(data)), isTTY: true, columns: 20 },
      stderr: { write: () => true },
      stdin: process.stdin,
      env: { NO_COLOR: '1' },
      cwd,
      signal: new AbortController().signal,
    })
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'weather  Tells the …\nfail     Fails \\u{1…\nform\n',
    })
  })

  it('shows one tool whole, by the name on the server too', async () => {
    expect((await run('list', 'own', 'weather')).stdout).toBe(
      [
        'x_weather  Weather',
        '',
        'Tells the weather.',
        'Second line.',
        '',
        'Parameters:',
        '  city    string, required: Where \\u{1B}[31mto look',
        '',
        '  effect  read',
        '  hints   readOnlyHint true',
        '',
      ].join('\n'),
    )
    const fail = await run('list', 'own', 'x_fail')
    expect(fail.stdout).toContain('Parameters: none')
    expect(fail.stdout).toContain('write, asks for approval')
  })

  it('writes JSON with the schema, the effect and the hints', async () => {
    const { stdout } = await run('list', 'sky', 'weather', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'weather',
      inputSchema: { required: ['city'] },
      effect: 'write',
      approval: false,
      annotations: { readOnlyHint: true },
    })
  })

  it('says that a server has no tools', async () => {
    const stderr = 'The MCP server `empty` has no tools.\n'
    expect(await run('list', 'empty')).toEqual({ code: 0, stdout: '', stderr })
  })

  it.each([
    [['list'], 'needs a server'],
    [['list', 'sky', 'wether'], 'has no tool `wether`. Did you mean `weather`?'],
    [['list', 'node', 'a.mjs', 'b'], 'write a command line in quotes'],
    [['list', 'http://['], 'This URL cannot be read.'],
    [['list', 'https://ann:hunter2@shop.example'], 'must not have a user or a password'],
    [['list', 'nowhere'], '(known are sky, own, wrong, empty)'],
    [['list', 'wrong'], '`mcp.json`: `prefix` of the MCP server `wrong` must be at most 32'],
    [['list', 'x', '--config', 'other.json'], '`other.json` has no servers'],
    [['list', 'x', '--config', 'none.json'], 'The file `none.json` does not exist'],
    [['sing'], 'use list, call or serve'],
    [[], 'needs one of list, call and serve'],
  ])('says what is wrong with %j', async (args, message) => {
    const { code, stderr, stdout } = await run(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('hunter2')
  })

  it('reads the files of other programs', async () => {
    expect((await run('list', 'sky', '--config', 'vscode.json')).code).toBe(0)
    const { code, stderr } = await run('list', 'sky', '--config', 'bom.json')
    expect(code).toBe(0)
    expect(stderr).toContain('`autoApprove` of the MCP server `sky` is ignored')
  })

  it.each([
    ['lost', 'Its `cwd` is `/no/such/folder`, which is not a folder'],
    ['loud', 'is not a message of the protocol: `Welcome\\u{1B}[31m!`'],
  ])('says why a process cannot be opened: %s', async (name, message) => {
    const { code, stderr } = await run('list', name, '--config', 'bom.json')
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  it('says when it was interrupted, and not that calls are stored', async () => {
    const ended = await cli(['mcp', 'list', 'sky'], { cwd, signal: AbortSignal.abort() })
    expect(ended).toEqual({ code: 130, stdout: '', stderr: 'bobbin: Interrupted.\n' })
  })
})

describe('bobbin mcp call', () => {
  it('writes the result alone to standard output, exact in a pipe', async () => {
    const called = await run('call', 'own', 'weather', '{"city":"Ulm"}')
    expect(called).toEqual({
      code: 0,
      stdout: '{"city":"Ulm","sky":"clear\\u001b[0m"}\n',
      stderr: '',
    })
    const json = await run('call', 'own', 'weather', '{"city":"Ulm"}', '--json')
    expect(JSON.parse(json.stdout)).toEqual({
      tool: 'x_weather',
      settlement: 'ok',
      content: [{ type: 'text', text: '{"city":"Ulm","sky":"clear\\u001b[0m"}' }],
    })
  })

  it('writes errors with their settlement to standard error', async () => {
    const failed = await run('call', 'own', 'fail', '--yes')
    expect(failed).toEqual({
      code: 1,
      stdout: '',
      stderr: 'bobbin: `x_fail` failed: no \\u{1B}[31mway\n',
    })
    const json = await run('call', 'own', 'weather', '--json')
    expect({ code: json.code, stdout: json.stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: 'CALL_FAILED', settlement: 'refused' },
    })
  })

  it('reads arguments before any server is called', async () => {
    const before = calls
    for (const args of ['{"city"}', '[1]', 'Ulm']) {
      const { code, stderr } = await run('call', 'sky', 'weather', args)
      expect(code).toBe(2)
      expect(stderr).toContain('in single quotes')
    }
    expect(calls).toBe(before)
    const piped = await cli(['mcp', 'call', 'own', 'weather', '-'], {
      cwd,
      stdin: '{"city":"Ulm"}',
    })
    expect(piped.code).toBe(0)
  })

  it('waits for an approval and for a form, and says what to do without a terminal', async () => {
    const approval = await run('call', 'own', 'fail')
    expect({ code: approval.code, stdout: approval.stdout }).toEqual({ code: 3, stdout: '' })
    expect(approval.stderr).toContain('or pass --yes')
    const form = await run('call', 'sky', 'form')
    expect(form.code).toBe(3)
    expect(form.stderr).toContain('`form` waiting: MCP server `sky` asks: How many?')
    expect(form.stderr).toContain("or pass --answer '{…}'")
    const answered = await run('call', 'sky', 'form', '--answer', '{"n":3}')
    expect(answered.code).toBe(0)
    expect(answered.stdout).toContain('"content":{"n":3}')
  })
})

describe('an agent file with `mcpServers`', () => {
  it('gives the agent the tools of its servers, and tells what is left out once', async () => {
    const args = ['run', 'Go.', '--quiet', '--agent', 'good.ts', '--store', 'good.db']
    const { code, stdout, stderr } = await cli(args, { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ran sky_weather\n' })
    expect(stderr.match(/is left out/g)).toHaveLength(1)
    expect(stderr).toContain('of the MCP server `sky` is left out: its name has hidden characters')
    const listed = await cli(['calls', '--json', '--store', 'good.db'], { cwd })
    const { id } = JSON.parse(listed.stdout) as { id: string }
    const undone = await cli(['undo', id, '-a', 'good.ts', '--store', 'good.db'], { cwd })
    expect(undone.stderr).toContain('its tool `sky_weather` has no `undo`')
  })

  it('leaves out a server that is disabled', async () => {
    const args = ['run', 'Go.', '--quiet', '--agent', 'disabled.ts', '--store', 'good.db']
    const { stderr } = await cli(args, { cwd })
    expect(stderr).toContain('The MCP server `sky` is left out: `disabled` is true.')
  })

  it.each([
    [
      'same.ts',
      '`same.ts`: the agent itself and the MCP server `sky` both have a tool `sky_weather`',
    ],
    [
      'away.ts',
      'The MCP server `sky` could not be opened: `no-such-program-here` could not be started',
    ],
  ])('refuses %s with the way out', async (file, message) => {
    const { code, stderr } = await cli(['run', 'Go.', '--agent', file, '--store', 'x.db'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })
})

describe('bobbin mcp serve', () => {
  it('says that a port is in use', async () => {
    const { port } = http.address() as AddressInfo
    const { code, stderr } = await run(
      'serve',
      'good.ts',
      '--port',
      String(port),
      '--store',
      's.db',
    )
    expect(code).toBe(2)
    expect(stderr).toContain(`Port ${port} is in use: choose another one`)
  })
})
