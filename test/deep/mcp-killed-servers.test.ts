import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { type McpTools, mcpClient, mcpTools } from '../../src/mcp/index.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'

let folder: string
let server: ChildProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bobbin-mcp-killed-'))
})
afterEach(() => {
  server?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const effects = () => {
  const path = join(folder, 'effects')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

/** Starts `bobbin mcp serve` on a port. */
function serve(port: number): ChildProcess {
  const agent = inRoot('test', 'mcp', 'dying-agent.mjs')
  const args = [inRoot('dist', 'cli', 'main.js'), 'mcp', 'serve', agent, '--port', String(port)]
  const env = {
    ...process.env,
    EFFECTS: join(folder, 'effects'),
    MAY_END: join(folder, 'may-end'),
  }
  server = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  return server
}

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  socket.close()
  await once(socket, 'close')
  return port
}

/** Makes one call, and kills the server in the middle of it; another server takes its place. */
async function killedDuring(tool: 'look' | 'pay') {
  const port = await freePort()
  const first = serve(port)
  let said = ''
  first.stderr?.on('data', (text: Buffer) => (said += text.toString()))
  await expect.poll(() => said, { timeout: 10_000 }).toContain(String(port))
  const tools = await mcpTools(mcpClient({ url: `http://127.0.0.1:${port}/mcp` }), {
    effects: { look: 'read' },
  })
  const calling = call(tools, tool)
  await expect.poll(effects, { timeout: 10_000 }).toEqual([tool])
  first.kill('SIGKILL')
  writeFileSync(join(folder, 'may-end'), '')
  serve(port)
  const settled = await calling
  await tools.close()
  return settled
}

async function call(tools: McpTools, tool: string) {
  const runner = new TurnRunner({
    tools,
    policy: 'open',
    executor: async ({ turnToolCalls }) =>
      turnToolCalls.length > 0 ? { answer: '' } : { calls: [{ tool, args: {} }] },
  })
  const { toolCalls } = await runner.run({ message: 'Go.' })
  return toolCalls.map(({ settlement }) => settlement)
}

describe('a server over HTTP that is killed in the middle of a call', () => {
  it('leaves a write in doubt, and nothing is sent twice', async () => {
    expect(await killedDuring('pay')).toEqual(['in-doubt'])
    expect(effects()).toEqual(['pay'])
  }, 60_000)

  it('gets a read again when it is back', async () => {
    expect(await killedDuring('look')).toEqual(['ok'])
    expect(effects()).toEqual(['look', 'look'])
  }, 60_000)
})

describe('a server that never answers', () => {
  it('is given up after 30 seconds, with its process', async () => {
    const pid = join(folder, 'pid')
    const program = `require('fs').writeFileSync(${JSON.stringify(pid)}, String(process.pid)); process.stdin.resume()`
    const opening = mcpTools(mcpClient({ command: process.execPath, args: ['-e', program] }))
    await expect(opening).rejects.toMatchObject({
      code: 'E_MCP_UNAVAILABLE',
      message: expect.stringContaining('no answer within 30 s') as string,
    })
    const isRunning = () => {
      try {
        return process.kill(Number(readFileSync(pid, 'utf8')), 0)
      } catch {
        return false
      }
    }
    await expect.poll(isRunning, { timeout: 10_000 }).toBe(false)
  }, 60_000)
})
