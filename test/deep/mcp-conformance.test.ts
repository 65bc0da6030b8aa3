import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { CLIENT_EXCEPTIONS, SERVER_EXCEPTIONS } from '../mcp/conformance-exceptions.ts'
import { installed } from '../mcp/install.ts'
import { installNode } from './node-lines.ts'

/** The official suite needs Node 22; the subjects run on the Node of these tests. */
const SUITE = '0.2.0-alpha.12'

let node: string
let suite: string
beforeAll(async () => {
  node = await installNode('22.23.3')
  suite = join(await installed('@modelcontextprotocol/conformance', SUITE), 'dist', 'index.js')
}, 300_000)

/** What the suite says. */
async function said(args: readonly string[]): Promise<string> {
  const child = spawn(node, [suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  await new Promise((resolve) => child.on('close', resolve))
  return output
}

/** Which scenarios passed and which failed. */
async function scenarios(args: readonly string[]) {
  const output = await said(args)
  const found = (mark: string) =>
    [...output.matchAll(new RegExp(`^${mark} ([\\w/.-]+):`, 'gm'))].map(([, name]) => name ?? '')
  return { passed: found('✓'), failed: found('✗') }
}

const CLIENT = `${process.execPath} ${inRoot('test', 'mcp', 'conformance-client.mjs')}`

/** Scenarios of an older revision, which no list of requirements names. */
const OLDER = [
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
] as const

const REVISIONS = ['2026-07-28', '2025-11-25'] as const

/** The exceptions among the scenarios that ran. */
const expected = (exceptions: Readonly<Record<string, string>>, ran: readonly string[]) =>
  Object.keys(exceptions).filter((name) => ran.includes(name))

describe('the official conformance suite', () => {
  it.each(REVISIONS)(
    'passes for the client, but for what is listed with its reason: %s',
    { timeout: 300_000 },
    async (revision) => {
      const run = await scenarios(['client', '--command', CLIENT, '--requirements', revision])
      expect(run.passed).toContain('tools_call')
      expect(run.passed).toContain('auth/metadata-default')
      const ran = [...run.passed, ...run.failed]
      expect([...run.failed].sort()).toEqual(expected(CLIENT_EXCEPTIONS, ran))
    },
  )

  it.each(OLDER)('passes for the client: %s', { timeout: 300_000 }, async (scenario) => {
    const output = await said(['client', '--command', CLIENT, '--scenario', scenario])
    expect(output).toContain('OVERALL: PASSED')
  })

  it.each(REVISIONS)(
    'passes for the server, but for what is listed with its reason: %s',
    { timeout: 300_000 },
    async (revision) => {
      const server = spawn(process.execPath, [inRoot('test', 'mcp', 'conformance-server.mjs')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const url = await new Promise<string>((resolve) => {
          server.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()))
        })
        const run = await scenarios(['server', '--url', url, '--requirements', revision])
        expect(run.passed).toContain('tools-call-simple-text')
        const ran = [...run.passed, ...run.failed]
        expect([...run.failed].sort()).toEqual(expected(SERVER_EXCEPTIONS, ran))
      } finally {
        server.kill()
      }
    },
  )
})
