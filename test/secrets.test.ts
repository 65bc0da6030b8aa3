import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SpooledArtifact } from '../src/artifacts/spooled-artifact.ts'
import type { ToolCall } from '../src/records/tool-call.ts'
import { Media } from '../src/spool/media.ts'
import { bytesMedia } from '../src/spool/media-reader.ts'
import { memorySpool } from '../src/spool/memory-spool.ts'
import { redactKeys } from '../src/store/rows/redact-keys.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { Tokenizable } from '../src/text/tokenizable.ts'
import { Tool } from '../src/tools/tool.ts'
import type { ToolContext, ToolOutput } from '../src/tools/tool-context.ts'
import type { ToolOptions } from '../src/tools/tool-options.ts'
import type { Middleware } from '../src/turn/call/middleware.ts'
import type { ObservedEventName } from '../src/turn/events/turn-events.ts'
import { TurnRunner } from '../src/turn/turn-runner.ts'
import { byHand } from './turn-samples.ts'

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
  'JSON that escapes what it likes': (secret) =>
    JSON.stringify({ secret }).replaceAll('-', '\\u002d').replaceAll('ü', '\\u00FC'),
  'a form': (secret) => `${new URLSearchParams({ secret })}`,
  'the name of a picture': (secret) => pictureOf(secret),
  'the names of pictures': (secret) => [pictureOf('a'), pictureOf(`b ${secret}`)],
  'an artifact of its own': (secret, ctx) => ctx.spool(`spooled ${secret}`),
  'an error': (secret) => {
    throw new Error(`401 for https://api.example/?key=${encodeURIComponent(secret)} (${secret})`)
  },
  'progress reports': (secret, ctx) => {
    ctx.progress({ using: secret, [secret]: true })
    return 'done'
  },
}

const pictureOf = (name: string) =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: `${name}.png`,
    trustTier: 'first-party',
    modalityHazard: 'inert',
    reader: bytesMedia(new Uint8Array([137, 80, 78, 71])),
  })

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

  it('reaches nobody through what middleware and `reconcile` write to the spool', async () => {
    const own = mkdtempSync(join(folder, 'case-'))
    const store = sqliteStore(join(own, 'agent.db'))
    const inputSchema = z.object({})
    const { promise: known, resolve: learn } = byHand()
    const tool = (name: string, more: Partial<ToolOptions<typeof inputSchema>>) =>
      new Tool({ name, description: name, inputSchema, handler: () => 'so', ...more })
    const runner = (isDead: boolean) =>
      new TurnRunner({
        store,
        secrets: () => SECRET,
        tools: [
          tool('look', {
            effect: 'read',
            handler: async (_, ctx) => {
              if (isDead) return new Promise<string>(() => {})
              await ctx.secret('key')
              learn()
              return 'seen'
            },
          }),
          tool('pay', {
            effect: 'write',
            handler: () => new Promise<string>(() => {}),
            reconcile: async () => {
              await known
              return { happened: 'yes', output: `paid with ${SECRET}` }
            },
          }),
        ],
        middleware: [
          {
            call: async (subject, next) => {
              const call = await next()
              return call.tool === 'look'
                ? subject.record({
                    settlement: 'ok',
                    results: await subject.spool(`copy of ${SECRET}`, SpooledArtifact),
                  })
                : call
            },
          },
        ],
        executor: async ({ items }) =>
          items.some(({ type }) => type === 'call')
            ? { answer: 'ok' }
            : { calls: ['look', 'pay'].map((name) => ({ tool: name, args: {} })) },
      })
    const dead = runner(true)
    const begun = new Promise<void>((resolve) => {
      dead.observe('toolExecutionStart', ({ tool: name }) => name === 'pay' && resolve())
    })
    void dead.run({ conversation: 'c', message: 'Pay.' })
    await begun
    const outcome = await runner(false).recover({ conversation: 'c', force: true })
    const settled = outcome.toolCalls.map(async ({ tool: name, settlement, results }) =>
      [name, settlement, await (results as SpooledArtifact).asString()].join(' '),
    )
    expect((await Promise.all(settled)).sort()).toEqual([
      'look ok copy of [secret]',
      'pay ok paid with [secret]',
    ])
    await store.close()
    expect(filesUnder(own).filter((file) => holdsSecret(readFileSync(file, 'utf8')))).toEqual([])
  })

  const LAYERS: Record<string, Middleware['call']> = {
    'the text of a record': async (subject, next) => {
      await next()
      return subject.record({ settlement: 'ok', results: new Tokenizable(`text ${SECRET}`) })
    },
    'the name of a picture': async (subject, next) => {
      await next()
      const results = await pictureOf(SECRET).spooled(memorySpool())
      return subject.record({ settlement: 'ok', results })
    },
    'an error': async ({ tool }, next) => {
      if (tool === 'use_key') return next()
      throw new Error(`no ${SECRET}`)
    },
  }

  it.each(Object.entries(LAYERS))(
    'reaches nobody through %s of middleware',
    async (_name, call) => {
      const seen: unknown[] = []
      const tool = (name: string) =>
        new Tool({
          name,
          description: 'Uses a key.',
          inputSchema: z.object({}),
          effect: 'read',
          handler: (_, ctx) => ctx.secret('key').then(() => 'used'),
        })
      const runner = new TurnRunner({
        secrets: () => SECRET,
        tools: [tool('use_key'), tool('look')],
        middleware: [{ call: call as NonNullable<typeof call> }],
        executor: async ({ iteration, items }) => {
          seen.push(items)
          const name = ['use_key', 'look'][iteration - 1]
          return name === undefined ? { answer: 'ok' } : { calls: [{ tool: name, args: {} }] }
        },
      })
      runner.observe('error', ({ error }) => seen.push(inspect(error)))
      runner.on('toolCall', (content) => seen.push(content))
      await runner.run({ message: 'go' })
      expect(holdsSecret(JSON.stringify(seen))).toBe(false)
      expect(JSON.stringify(seen)).toContain('[secret]')
    },
  )

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
    expect(toolCalls.map(({ settlement }) => settlement)).toEqual(['edited', 'ok'])
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
