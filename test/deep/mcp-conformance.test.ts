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

/** What the suite says, and how it ends. */
async function said(args: readonly string[]) {
  const child = spawn(node, [suite, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { output, code }
}

/** Which scenarios passed and which failed, in a run that came to its end. */
async function scenarios(args: readonly string[]) {
  const { output, code } = await said(args)
  const found = (mark: string) =>
    [...output.matchAll(new RegExp(`^${mark} ([\\w/.-]+):`, 'gm'))].map(([, name]) => name ?? '')
  const run = { passed: found('✓'), failed: found('✗') }
  expect(output).toMatch(/^Total: \d+ passed, \d+ failed/m)
  expect(code).toBe(run.failed.length === 0 ? 0 : 1)
  return run
}

const CLIENT = `${process.execPath} ${inRoot('test', 'mcp', 'conformance-client.mjs')}`

/** Scenarios of an older revision, which no list of requirements names. */
const OLDER = [
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
] as const

/** The revisions, and how many scenarios each has at least: a run that has fewer has lost some. */
const REVISIONS = [
  { revision: '2026-07-28', client: 39, server: 50 },
  { revision: '2025-11-25', client: 25, server: 33 },
] as const

/** The exceptions among the scenarios that ran. */
const expected = (exceptions: Readonly<Record<string, string>>, ran: readonly string[]) =>
  Object.keys(exceptions).filter((name) => ran.includes(name))

/** What failed in any revision. */
const failures = { client: new Set<string>(), server: new Set<string>() }

function holdExceptions(
  side: keyof typeof failures,
  exceptions: Readonly<Record<string, string>>,
  { passed, failed }: Awaited<ReturnType<typeof scenarios>>,
  least: number,
) {
  const ran = [...passed, ...failed]
  expect(ran.length).toBeGreaterThanOrEqual(least)
  expect([...failed].sort()).toEqual(expected(exceptions, ran))
  for (const name of failed) failures[side].add(name)
}

describe('the official conformance suite', () => {
  it.each(REVISIONS)(
    'passes for the client, but for what is listed with its reason: $revision',
    { timeout: 300_000 },
    async ({ revision, client }) => {
      const run = await scenarios(['client', '--command', CLIENT, '--requirements', revision])
      expect(run.passed).toContain('tools_call')
      expect(run.passed).toContain('auth/metadata-default')
      holdExceptions('client', CLIENT_EXCEPTIONS, run, client)
    },
  )

  it.each(OLDER)('passes for the client: %s', { timeout: 300_000 }, async (scenario) => {
    const { output, code } = await said(['client', '--command', CLIENT, '--scenario', scenario])
    expect(output).toContain('OVERALL: PASSED')
    expect(code).toBe(0)
  })

  it.each(REVISIONS)(
    'passes for the server, but for what is listed with its reason: $revision',
    { timeout: 300_000 },
    async ({ revision, server: least }) => {
      const server = spawn(process.execPath, [inRoot('test', 'mcp', 'conformance-server.mjs')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const url = await new Promise<string>((resolve) => {
          server.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()))
        })
        const run = await scenarios(['server', '--url', url, '--requirements', revision])
        expect(run.passed).toContain('tools-call-simple-text')
        holdExceptions('server', SERVER_EXCEPTIONS, run, least)
      } finally {
        server.kill()
      }
    },
  )

  it('has no exception that passes in every revision', () => {
    expect([...failures.client].sort()).toEqual(Object.keys(CLIENT_EXCEPTIONS).sort())
    expect([...failures.server].sort()).toEqual(Object.keys(SERVER_EXCEPTIONS).sort())
  })
})
