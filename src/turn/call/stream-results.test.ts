import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { byHand, sampleTool } from '../../../test/turn-samples.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { fileSpool } from '../../stores/fs/file-spool.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { Tokenizable } from '../../text/tokenizable.ts'
import type { ToolContext, ToolOutput } from '../../tools/tool-context.ts'
import type { TurnRunnerOptions } from '../options/runner-options.ts'
import { TurnRunner } from '../turn-runner.ts'

/** For calls that end by themselves, however slow the disk is. */
const PLENTY = 10_000

/** Waits for what happens in its own time. */
const soon = (isSo: () => boolean) => vi.waitFor(() => expect(isSo()).toBe(true), 5_000)

const pause = (ms = 10) => new Promise((resolve) => setTimeout(resolve, ms))

/** A stream that nothing comes from, and whether somebody ended it. */
interface Watched {
  readonly stream: ToolOutput
  isEnded(): boolean
}

/** What ends a stream also fails, which must not reach anybody. */
const MAKES: Record<string, () => Watched> = {
  'Node stream': () => {
    const stream = new Readable({ read() {} })
    return { stream: stream as ToolOutput, isEnded: () => stream.destroyed }
  },
  'Node stream that fails when it is destroyed': () => {
    const destroy = (_: unknown, done: (error: Error) => void) => done(new Error('no close'))
    const stream = new Readable({ read() {}, destroy })
    return { stream: stream as ToolOutput, isEnded: () => stream.destroyed }
  },
  'web stream': () => {
    let isEnded = false
    const cancel = () => {
      isEnded = true
      throw new Error('no cancel')
    }
    return { stream: new ReadableStream({ cancel }), isEnded: () => isEnded }
  },
}

const LATE_ONLY: Record<string, () => Watched> = {
  'generator that is under way': () => {
    let isEnded = false
    const stream = (async function* () {
      try {
        yield 'a'
        yield 'b'
      } finally {
        isEnded = true
      }
    })()
    void stream.next()
    return { stream, isEnded: () => isEnded }
  },
  'iterable that is none itself': () => {
    let isEnded = false
    const iterator = {
      next: () => byHand<IteratorResult<string>>().promise,
      return: () => {
        isEnded = true
        return Promise.reject(new Error('no return'))
      },
    }
    return { stream: { [Symbol.asyncIterator]: () => iterator }, isEnded: () => isEnded }
  },
  'iterable that throws': () => {
    let isEnded = false
    const stream = {
      [Symbol.asyncIterator]() {
        isEnded = true
        throw new Error('no iterator')
      },
    }
    return { stream, isEnded: () => isEnded }
  },
}

let folder: string
let uncaught: unknown[]
const keep = (error: unknown) => uncaught.push(error)
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bobbin-streams-'))
  uncaught = []
  process.on('uncaughtExceptionMonitor', keep)
})
afterEach(async () => {
  process.off('uncaughtExceptionMonitor', keep)
  await rm(folder, { recursive: true, force: true })
  if (uncaught.length > 0) throw new Error('nobody caught an error', { cause: uncaught[0] })
})

type Handler = (ctx: ToolContext) => ToolOutput | Promise<ToolOutput>

async function play(handler: Handler, options: Partial<TurnRunnerOptions> = {}, timeoutMs = 20) {
  const tool = sampleTool('read', (_, ctx) => handler(ctx), { timeoutMs })
  const model = scriptedModel([[{ call: 'read' }], [{ text: 'ok' }]])
  const runner = new TurnRunner({ ...options, model, tools: [tool] } as TurnRunnerOptions)
  const recorder = eventRecorder(runner)
  const { toolCalls, status } = await runner.run({ message: 'go' })
  const warnings = () => recorder.of('warning').map(({ code }) => code)
  const results = toolCalls[0]?.results
  return {
    status,
    settlement: toolCalls[0]?.settlement,
    text: Tokenizable.isTokenizable(results) ? results.text : undefined,
    warnings,
  }
}

describe('a stream that comes when its call was given up', () => {
  it.each(Object.entries({ ...MAKES, ...LATE_ONLY }))('is ended: a %s', async (_, make) => {
    const { stream, isEnded } = make()
    const late = byHand<ToolOutput>()
    const { settlement, warnings } = await play(() => late.promise)
    late.resolve(stream)
    await soon(isEnded)
    await soon(() => warnings().length > 0)
    expect([settlement, warnings()]).toEqual(['timed-out', ['LATE_RESULT']])
  })

  it.each(Object.entries(MAKES))('is not taken by `ctx.spool` any more: a %s', async (_, make) => {
    const { stream, isEnded } = make()
    const late = byHand()
    let reason: unknown
    const { settlement, warnings } = await play(async (ctx) => {
      await late.promise
      await ctx.spool(stream as string).catch((error: unknown) => {
        reason = error
        throw error
      })
      return 'x'
    })
    late.resolve()
    await soon(isEnded)
    await pause()
    expect([settlement, warnings()]).toEqual(['timed-out', []])
    expect(reason).toMatchObject({ name: 'TimeoutError' })
  })
})

describe('a stream from which nothing comes', () => {
  const spools = { memory: () => memorySpool(), files: () => fileSpool(folder) }
  const cases = (['memory', 'files'] as const).flatMap((spool) =>
    Object.keys(MAKES).map((name) => [name, spool] as const),
  )

  it.each(cases)('is ended with its call: a %s, wound onto %s', async (name, spool) => {
    const given = MAKES[name]?.() as Watched
    const { settlement, warnings } = await play(() => given.stream, { spool: spools[spool]() })
    await soon(given.isEnded)
    await pause()
    expect([settlement, warnings()]).toEqual(['timed-out', []])
  })

  it.each(cases)('is ended with the call that spools it: a %s, onto %s', async (name, spool) => {
    const given = MAKES[name]?.() as Watched
    const handler: Handler = (ctx) => ctx.spool(given.stream as string)
    const { settlement, warnings } = await play(handler, { spool: spools[spool]() })
    await soon(given.isEnded)
    await pause()
    expect([settlement, warnings()]).toEqual(['timed-out', []])
  })

  it('is ended where secrets are looked for in it', async () => {
    const given = MAKES['Node stream']?.() as Watched
    const { settlement } = await play(() => given.stream, { secrets: () => 'the key' })
    await soon(given.isEnded)
    expect(settlement).toBe('timed-out')
  })

  it('is ended where the spool hangs too', async () => {
    const given = MAKES['Node stream']?.() as Watched
    const spool = { ...memorySpool(), write: () => byHand<never>().promise }
    const { settlement } = await play(() => given.stream, { spool })
    expect([settlement, given.isEnded()]).toEqual(['timed-out', true])
  })
})

describe('a stream that fails', () => {
  const failing: Record<string, () => Readable> = {
    'because its file is not there': () => createReadStream(join(folder, 'no', 'file')),
    'before anybody reads it': () => {
      const stream = new Readable({ read() {} })
      process.nextTick(() => stream.destroy(new Error('gone')))
      return stream
    },
  }

  it.each(Object.entries(failing))('%s fails its call and nothing else', async (_, make) => {
    const spool = fileSpool(join(folder, 'spool'))
    for (const handler of [
      () => make() as ToolOutput,
      async () => make() as ToolOutput,
      (ctx: ToolContext) => ctx.spool(make()),
    ]) {
      const { status, settlement, text } = await play(handler, { spool }, PLENTY)
      expect([status, settlement]).toEqual(['completed', 'failed'])
      expect(text).toMatch(/ENOENT|gone/)
      await pause()
    }
  })

  it('before a file spool reads it fails the write and nothing else', async () => {
    const stream = createReadStream(join(folder, 'no', 'file'))
    await expect(fileSpool(join(folder, 'spool')).write(stream)).rejects.toThrow(/ENOENT/)
  })

  it.each(Object.entries(MAKES))('to be taken by a spool is ended: a %s', async (_, make) => {
    const write = () => Promise.reject(new Error('the spool is full'))
    const spool = { ...memorySpool(), write }
    for (const isSpooled of [false, true]) {
      const { stream, isEnded } = make()
      const handler: Handler = (ctx) => (isSpooled ? ctx.spool(stream as string) : stream)
      const { settlement, text } = await play(handler, { spool }, PLENTY)
      await soon(isEnded)
      expect(settlement).toBe('failed')
      expect(text).toContain('the spool is full')
    }
  })

  it.each(Object.entries(MAKES))(
    'to be read before its time is up is ended: a %s',
    async (_, make) => {
      const { stream, isEnded } = make()
      const memory = memorySpool()
      const write: typeof memory.write = async (...given) => {
        await pause(40)
        return memory.write(...given)
      }
      const { settlement } = await play((ctx) => ctx.spool(stream as string), {
        spool: { ...memory, write },
      })
      await pause(60)
      expect([settlement, isEnded()]).toEqual(['timed-out', true])
    },
  )
})
