import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SpooledArtifact } from '../src/artifacts/spooled-artifact.ts'
import type { ToolCall } from '../src/records/tool-call.ts'
import { redactKeys } from '../src/store/redact-keys.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { Tool } from '../src/tools/tool.ts'
import type { ToolContext, ToolOutput } from '../src/tools/tool-context.ts'
import type { ObservedEventName } from '../src/turn/turn-events.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'

const SECRET = 'sk-"live"-quagga42-übergeheim'
const folder = mkdtempSync(join(tmpdir(), 'bobbin-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

const OBSERVED: readonly ObservedEventName[] = [
  'turnStart',
  'turnEnd',
  'toolExecutionStart',
  'toolExecutionEnd',
  'toolProgress',
  'warning',
  'error',
]

async function* slowly(text: string) {
  for (const letter of text) yield letter
}

/** Every way in which a handler may let a secret slip. */
const LEAKS: Record<
  string,
  (secret: string, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>
> = {
  'a string': (secret) => `the key is ${secret}`,
  'a JSON value': (secret) => ({ nested: [{ key: secret }] }),
  bytes: (secret) => new TextEncoder().encode(`bytes of ${secret}`),
  'a stream in small pieces': (secret) => slowly(`stream of ${secret} and more`),
  'a large string': (secret) => `${'x'.repeat(100_000)}${secret}`,
  'an artifact of its own': (secret, ctx) => ctx.spool(`spooled ${secret}`),
  'an error': (secret) => {
    throw new Error(`401 for https://api.example/?key=${encodeURIComponent(secret)} (${secret})`)
  },
  'progress reports': (secret, ctx) => {
    ctx.progress({ using: secret, [secret]: true })
    return 'done'
  },
}

function filesUnder(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())
}

/** In how many of the ways that text is written something contains the secret. */
/** Its middle stands for other ways of writing it; no digest or id spells that by chance. */
const holdsSecret = (text: string) =>
  [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), 'quagga42'].some(
    (form) => text.includes(form),
  )

describe('a secret', () => {
  it.each(Object.entries(LEAKS))('reaches nobody through %s', async (name, leak) => {
    const own = mkdtempSync(join(folder, 'case-'))
    const store = sqliteStore(join(own, 'agent.db'))
    const seen: unknown[] = []
    const runner = new TurnRunner({
      store,
      secrets: () => SECRET,
      tools: [
        new Tool({
          name: 'use_key',
          description: 'Uses a key.',
          inputSchema: z.object({}),
          effect: 'read',
          handler: async (_, ctx) => leak(await ctx.secret('key'), ctx),
        }),
      ],
      executor: async ({ iteration, items, instructions }) => {
        seen.push(instructions, items)
        return iteration === 1 ? { calls: [{ tool: 'use_key', args: {} }] } : { answer: 'ok' }
      },
    })
    for (const event of OBSERVED) runner.observe(event, (content) => seen.push(event, content))
    runner.on('toolCall', (content) => seen.push(content))
    const outcome = await runner.run({ conversation: 'c', message: `Use it: ${name}.` })
    expect(outcome).toMatchObject({ status: 'completed', toolCalls: [{ tool: 'use_key' }] })
    for await (const line of store.export('c')) seen.push(line)
    expect(holdsSecret(JSON.stringify([seen, outcome]))).toBe(false)
    expect(JSON.stringify([seen, outcome])).toContain(
      name === 'progress reports' ? 'done' : '[secret]',
    )
    const files = filesUnder(own)
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => holdsSecret(readFileSync(file, 'utf8')))).toEqual([])
    await store.close()
  })

  it('that one call was given reaches nobody through another call of the turn', async () => {
    const own = mkdtempSync(join(folder, 'case-'))
    const store = sqliteStore(join(own, 'agent.db'))
    let written = ''
    const tool = (name: string, handler: (ctx: ToolContext) => Promise<string>) =>
      new Tool({
        name,
        description: `Does ${name}.`,
        inputSchema: z.object({}),
        effect: 'idempotent',
        handler: (_, ctx) => handler(ctx),
      })
    const runner = new TurnRunner({
      store,
      secrets: () => SECRET,
      tools: [
        tool('configure', async (ctx) => {
          written = `key = ${await ctx.secret('key')}`
          return 'written'
        }),
        tool('read_file', async () => written),
      ],
      executor: async ({ iteration }) => {
        const name = ['configure', 'read_file'][iteration - 1]
        return name === undefined ? { answer: 'ok' } : { calls: [{ tool: name, args: {} }] }
      },
    })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'Configure it.' })
    await store.close()
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['ok', 'ok'])
    expect(filesUnder(own).filter((file) => holdsSecret(readFileSync(file, 'utf8')))).toEqual([])
  })

  it('of digits leaves JSON that can be read where it was a number', async () => {
    const tool = new Tool({
      name: 'look',
      description: 'Looks.',
      inputSchema: z.object({}),
      effect: 'read',
      handler: async (_, ctx) => {
        const pin = Number(await ctx.secret?.('pin'))
        ctx.progress({ pin })
        return { pin, other: 7, list: [`${pin}`, pin] }
      },
    })
    const runner = new TurnRunner({
      tools: [tool],
      secrets: () => '123456',
      executor: async ({ iteration }) =>
        iteration === 1 ? { calls: [{ tool: 'look', args: {} }] } : { answer: 'ok' },
    })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ settlement: 'ok' }])
    const [call] = toolCalls as [ToolCall]
    const text = await (call.results as SpooledArtifact).asString()
    const gone = '[secret]'
    expect(JSON.parse(text)).toEqual({ pin: gone, other: 7, list: [gone, gone] })
  })

  it('in arguments is not stored where a hook redacts it, and the handler still gets it', async () => {
    const path = join(folder, 'redacted.db')
    const store = sqliteStore(path, { redact: redactKeys(/password/) })
    const got: unknown[] = []
    const tools = [
      new Tool({
        name: 'log_in',
        description: 'Logs in.',
        inputSchema: z.object({ user: z.string(), password: z.string() }),
        effect: 'idempotent',
        handler: (args) => {
          got.push(args)
          return 'in'
        },
      }),
    ]
    const args = { user: 'ann', password: '4242-hunter' }
    const runner = new TurnRunner({
      store,
      tools,
      executor: async ({ iteration }) =>
        iteration === 1 ? { calls: [{ id: 'call_1', tool: 'log_in', args }] } : { answer: 'ok' },
    })
    const outcome = await runner.run({ conversation: 'c', message: 'Log in.' })
    expect(got).toEqual([args])
    expect(outcome).toMatchObject({ status: 'completed' })
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
    for (const file of [path, `${path}-wal`]) {
      expect(readIfThere(file)).not.toContain('4242-hunter')
    }
  })
})

describe('a redaction hook', () => {
  it('sees everything first: also what a person makes of the arguments', async () => {
    const path = join(folder, 'edited.db')
    const store = sqliteStore(path, { redact: redactKeys(/password/) })
    const got: unknown[] = []
    const inputSchema = z.object({ password: z.string() })
    const logIn = new Tool({
      name: 'log_in',
      description: 'Logs in.',
      inputSchema,
      effect: 'write',
      approval: true,
      handler: (given) => {
        got.push(given)
        return 'in'
      },
    })
    const runner = new TurnRunner({
      store,
      tools: [logIn],
      approve: async () => ({
        approve: true,
        decidedBy: 'ann',
        args: { password: 'quagga42-new' },
      }),
      executor: async ({ iteration }) =>
        iteration === 1
          ? { calls: [{ tool: 'log_in', args: { password: 'quagga42-old' } }] }
          : { answer: 'ok' },
    })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'Log in.' })
    expect(got).toEqual([{ password: 'quagga42-new' }])
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['denied', 'ok'])
    const log: string[] = []
    for await (const entry of store.entries('c')) log.push(JSON.stringify(entry))
    expect(log.filter((entry) => entry.includes('quagga42'))).toEqual([])
    expect((await store.verify({ conversation: 'c' })).faults).toEqual([])
    await store.close()
  })
})

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
