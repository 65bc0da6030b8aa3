import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { runCli } from '../../src/cli/run-cli.ts'
import { cli } from './in-process.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'bobbin-mcp-serve-'))
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A tool as the text of a program. */
const tool = (name: string, more = '') =>
  `new Tool({ name: '${name}', description: '${name}', inputSchema: { type: 'object' }, handler: () => 'ran', ${more} })`

/** Serves an agent file over HTTP until the test has ended. */
async function serve(program: string, ...flags: readonly string[]) {
  const file = `${crypto.randomUUID()}.ts`
  const imports = `import { Tool } from ${JSON.stringify(inRoot('src', 'index.ts'))}\n`
  writeFileSync(join(cwd, file), `${imports}${program}`)
  const stop = new AbortController()
  let said = ''
  const args = ['mcp', 'serve', file, '--port', '0', '--store', `${file}.db`, ...flags]
  const serving = runCli(args, {
    stdout: { write: () => true },
    stderr: { write: (data) => (said += String(data)) },
    stdin: process.stdin,
    env: {},
    cwd,
    signal: stop.signal,
  })
  ends.push(() => {
    stop.abort()
    return serving
  })
  await expect.poll(() => said, { timeout: 10_000 }).toContain('/mcp (')
  return { url: /http:\S+/.exec(said)?.[0] ?? '', said, file }
}

/** A client that approves what it is asked. */
async function clientOf(url: string): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { approve: true },
  }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  ends.push(() => client.close())
  return client
}

describe('bobbin mcp serve', () => {
  it('keeps the rules of the agent file for calls of clients', async () => {
    const { url } = await serve(`
      export const tools = [${tool('send')}, ${tool('key', "handler: (_, ctx) => ctx.secret('KEY')")}]
      export const secrets = (name) => 'value of ' + name
      export const middleware = [{ async call({ tool }, next) {
        if (tool === 'send') throw new Error('The rules forbid it.')
        return next()
      } }]
    `)
    const client = await clientOf(url)
    const sent = await client.callTool({ name: 'send' })
    expect([sent.isError, JSON.stringify(sent.content)]).toEqual([
      true,
      expect.stringContaining('forbid') as string,
    ])
    const { content } = await client.callTool({ name: 'key' })
    expect(content).toMatchObject([{ text: '[secret]' }])
  })

  it.each([
    ['off unless they are asked for', '', [], true],
    ['taken with --approvals', '', ['--approvals'], false],
    ['subject to `mayDecide`', 'export const mayDecide = () => false', ['--approvals'], true],
  ] as const)('has decisions of clients %s', async (_, rule, flags, isError) => {
    const { url } = await serve(
      `export const tools = [${tool('pay', 'approval: true')}]\n${rule}`,
      ...flags,
    )
    const client = await clientOf(url)
    expect((await client.callTool({ name: 'pay' })).isError === true).toBe(isError)
  })

  it('listens on this machine only', async () => {
    const { url } = await serve(`export const tools = [${tool('send')}]`)
    const { port, hostname } = new URL(url)
    expect(hostname).toBe('127.0.0.1')
    const others = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
    for (const { address } of others) {
      await expect(fetch(`http://${address}:${port}/mcp`)).rejects.toThrow('fetch failed')
    }
  })

  it('leaves interrupted calls to `recover`, which asks no model about them', async () => {
    const { url, file } = await serve(`
      import { writeFileSync } from 'node:fs'
      export const tools = [
        ${tool('hang', `handler: () => new Promise(() => writeFileSync(${JSON.stringify(join(cwd, 'began'))}, ''))`)},
        ${tool('pay', `handler: () => writeFileSync(${JSON.stringify(join(cwd, 'paid'))}, '')`)},
      ]
      export const offline = ({ turnToolCalls }) =>
        turnToolCalls.some(({ tool }) => tool === 'pay') ? { answer: 'Paid.' } : { calls: [{ tool: 'pay', args: {} }] }
    `)
    const client = await clientOf(url)
    client.callTool({ name: 'hang' }).catch(() => undefined)
    await expect.poll(() => existsSync(join(cwd, 'began'))).toBe(true)
    const store = ['--agent', file, '--store', `${file}.db`]
    const recovered = await cli(['recover', '--force', ...store], { cwd })
    expect(recovered).toMatchObject({ code: 0, stderr: '' })
    expect(recovered.stdout).toContain('in-doubt')
    expect(existsSync(join(cwd, 'paid'))).toBe(false)
    expect((await cli(['recover', ...store], { cwd })).stdout).toBe('Nothing to recover.\n')
  })

  it('serves a tool named `ask` instead of the agent', async () => {
    const { url, said } = await serve(
      `export const tools = [${tool('ask')}]\nexport const offline = () => ({ answer: 'agent' })`,
    )
    expect(said).toContain('The agent is not served: one of its tools has the name `ask`.')
    const { content } = await (await clientOf(url)).callTool({ name: 'ask' })
    expect(content).toMatchObject([{ text: 'ran' }])
  })

  it('says what to do if `tools` is a function that needs a context', async () => {
    writeFileSync(join(cwd, 'needs.mjs'), 'export const tools = ({ context }) => context.tools')
    const ended = await cli(['mcp', 'serve', 'needs.mjs', '--store', 'needs.db'], { cwd })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('`tools` of `needs.mjs` failed: Cannot read properties of')
    expect(ended.stderr).toContain('calls it once, without a `context`')
  })
})
