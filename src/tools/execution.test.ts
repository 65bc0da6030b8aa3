import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runs } from '../../test/runs.ts'
import { checksum } from '../core/checksum.ts'
import { BobbinError, isBobbinError } from '../core/error/error.ts'
import type { JsonObject } from '../core/json/json.ts'
import { unparsedArguments } from '../core/unparsed-arguments.ts'
import { ToolCall } from '../records/tool-call.ts'
import { ArtifactTool } from './artifact-tool.ts'
import type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './execution-events.ts'
import { Tool } from './tool.ts'
import type { ToolContext } from './tool-context.ts'

type Event = ToolExecutionStartEvent | ToolExecutionEndEvent

/** Runs a call and keeps its events, its output and what it threw. */
async function observe(tool: Tool, args: unknown, toolCallId = 'call_1') {
  const events: Event[] = []
  let time = 100
  const run = tool.executor({ toolCallId, emit: (event) => events.push(event), now: () => time++ })
  try {
    return { events, output: await run(args), error: undefined }
  } catch (error) {
    return { events, output: undefined, error }
  }
}

const echo = new Tool({
  name: 'echo',
  description: 'Gives back what it got.',
  inputSchema: z.object({ text: z.string(), times: z.coerce.number().default(1) }),
  handler: ({ text, times }) => text.repeat(times),
})

const thrower = (thrown: unknown) =>
  new Tool({
    name: 'thrower',
    description: 'Throws.',
    inputSchema: { type: 'object' },
    handler: () => {
      throw thrown
    },
  })

const fail = (): never => {
  throw new Error('cannot be read')
}
/** A clock that breaks at its nth reading. */
const failingFrom = (nth: number) => {
  let readings = 0
  return () => (++readings < nth ? 100 : fail())
}
const errorWith = (message: PropertyDescriptor) =>
  Object.defineProperty(new Error('x'), 'message', message)

describe('Tool.executor', () => {
  it('tells of the start and the end under the checksum of the raw arguments', async () => {
    const { events, output } = await observe(echo, { text: 'ab', times: '2' })
    const callId = checksum('echo', { text: 'ab', times: '2' })
    const call = { callId, toolCallId: 'call_1', tool: 'echo', startedAt: 100 }
    expect(output).toBe('abab')
    expect(events).toEqual([
      { type: 'toolExecutionStart', ...call },
      { type: 'toolExecutionEnd', ...call, endedAt: 101, isError: false },
    ])
  })

  it('gives the same callId for a JSON string and for the object it holds', async () => {
    const asObject = await observe(echo, { text: 'x' })
    const asText = await observe(echo, '{ "text" : "x" }')
    expect(asText.events[0]?.callId).toBe(asObject.events[0]?.callId)
    expect(asText.output).toBe('x')
  })

  it('agrees with ToolCall.checksum for random schemas with defaults and coercions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
          maxKeys: 5,
        }),
        fc.boolean(),
        async (args, asText) => {
          const tool = new Tool({
            name: 'any',
            description: 'Takes anything, changes it on the way in.',
            inputSchema: z
              .looseObject({ added: z.string().default('by default') })
              .transform((value) => ({ ...value, changed: true })),
            handler: () => 'ok',
          })
          const raw: unknown = asText ? JSON.stringify(args) : args
          const { events } = await observe(tool, raw)
          const record = new ToolCall({
            id: 'call_1',
            tool: 'any',
            args: raw as JsonObject,
            results: 'ok',
            isComplete: true,
            isError: false,
            createdAt: 0,
            completedAt: 0,
          })
          expect(events.map((event) => event.callId)).toEqual([record.checksum, record.checksum])
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('refuses arguments that do not fit, in words that the model can act on', async () => {
    const { events, error } = await observe(echo, { text: 5 })
    expect(isBobbinError(error, 'E_ARGUMENTS_REJECTED') && error.data.issues[0]?.path).toBe('text')
    expect(events.map((event) => event.type)).toEqual(['toolExecutionStart', 'toolExecutionEnd'])
    expect(events[1]).toMatchObject({ isError: true, code: 'E_ARGUMENTS_REJECTED' })
  })

  it.each([
    ['text that is no JSON', '{"text":', checksum('echo', unparsedArguments('{"text":'))],
    ['a list', [1], undefined],
    ['NaN', { text: Number.NaN }, undefined],
    ['a BigInt', { text: 1n }, undefined],
    ['nothing', undefined, undefined],
    [
      'a getter that throws',
      {
        get text(): string {
          throw new Error('no')
        },
      },
      undefined,
    ],
    [
      'a getter that throws an error of ours',
      {
        get text(): string {
          throw new BobbinError('E_JSON_TOO_DEEP', 'no', { limit: 1 })
        },
      },
      undefined,
    ],
  ])('tells of start and end once also for %s', async (_, args, callId) => {
    const { events, error } = await observe(echo, args)
    expect(isBobbinError(error, 'E_INVALID_ARGUMENTS')).toBe(true)
    expect(events.map((event) => event.type)).toEqual(['toolExecutionStart', 'toolExecutionEnd'])
    expect(events[0]?.callId).toBe(events[1]?.callId)
    if (callId !== undefined) expect(events[0]?.callId).toBe(callId)
  })

  it('does so for cyclic arguments too', async () => {
    const args: Record<string, unknown> = {}
    args['self'] = args
    const { events, error } = await observe(echo, args)
    expect(isBobbinError(error, 'E_INVALID_ARGUMENTS')).toBe(true)
    expect(events).toHaveLength(2)
  })

  it.each([
    ['an Error', new Error('no such file'), 'no such file'],
    ['a string', 'no such file', 'no such file'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a text form', Object.create(null), 'cannot be shown as text'],
    ['a frozen Error', Object.freeze(new Error('no such file')), 'no such file'],
    ['an Error whose message is no text', errorWith({ value: Symbol('s') }), 'Symbol(s)'],
    ['an Error whose message is an object', errorWith({ value: Object.create(null) }), 'as text'],
    ['an Error whose message throws', errorWith({ get: fail }), 'cannot be shown as text'],
    ['a proxy that answers nothing', new Proxy(new Error('x'), { get: fail }), 'as text'],
    ['an Error of another realm', runInNewContext('new Error("no such file")'), 'no such file'],
    ['an error of the kit', new BobbinError('E_JSON_TOO_DEEP', 'so deep', { limit: 1 }), 'so deep'],
  ])('wraps %s that the handler throws and keeps it as the cause', async (_, thrown, text) => {
    const { events, error } = await observe(thrower(thrown), {})
    if (!isBobbinError(error, 'E_TOOL_DOWNSTREAM_ERROR')) throw error
    expect(error.cause).toBe(thrown)
    expect(error.message).toContain(text)
    expect(error.data).toEqual({ tool: 'thrower' })
    expect(events).toHaveLength(2)
    expect(events[1]).toMatchObject({ isError: true, code: 'E_TOOL_DOWNSTREAM_ERROR' })
  })

  it.each<[string, (reason: unknown) => PromiseLike<never>]>([
    ['a promise', (reason) => Promise.reject(reason)],
    [
      'something else with a then',
      // oxlint-disable-next-line unicorn/no-thenable -- to be awaited is what it is for
      (reason) => ({ then: (_, reject) => reject?.(reason) as never }),
    ],
  ])('wraps what %s of the handler is rejected with, and ends once it is', async (_, rejected) => {
    const reason = new Error('too late')
    const tool = new Tool({
      name: 'later',
      description: 'Fails later.',
      inputSchema: { type: 'object' },
      handler: () => rejected(reason) as Promise<never>,
    })
    const { events, error } = await observe(tool, {})
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', cause: reason })
    expect(events).toMatchObject([
      { type: 'toolExecutionStart' },
      { type: 'toolExecutionEnd', isError: true, code: 'E_TOOL_DOWNSTREAM_ERROR' },
    ])
  })

  it('does not validate again what admission validated', async () => {
    let ran = 0
    const tool = new Tool({
      name: 'counted',
      description: 'Counts its validations.',
      inputSchema: z.object({}).transform(() => ++ran),
      handler: (value) => `got ${value}`,
    })
    expect(await tool.executor({ validated: { value: 'admitted' } })({})).toBe('got admitted')
    expect(ran).toBe(0)
  })

  it('wraps what a function inside the schema throws as well', async () => {
    const thrown = new Error('no database')
    const tool = new Tool({
      name: 'checked',
      description: 'Fails while its arguments are checked.',
      inputSchema: z.object({}).transform(() => {
        throw thrown
      }),
      handler: () => 'never',
    })
    const { events, error } = await observe(tool, {})
    expect(error).toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', cause: thrown })
    expect(events[1]).toMatchObject({ isError: true, code: 'E_TOOL_DOWNSTREAM_ERROR' })
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('observer')
      },
    ],
    ['fails later', () => Promise.reject(new Error('observer'))],
  ])('is not changed by an observer that %s', async (_, emit) => {
    expect(await echo.executor({ emit })({ text: 'x' })).toBe('x')
  })

  it.each<[string, () => unknown]>([
    ['throws', fail],
    ['throws at the end alone', failingFrom(2)],
    ['gives nothing', () => undefined],
  ])('keeps events and output when the clock %s', async (_, now) => {
    const events: Event[] = []
    const emit = (event: Event) => events.push(event)
    expect(await echo.executor({ emit, now: now as () => number })({ text: 'x' })).toBe('x')
    expect(events.map(({ type }) => type)).toEqual(['toolExecutionStart', 'toolExecutionEnd'])
    expect(events[1]).toMatchObject({ isError: false, endedAt: expect.any(Number) })
  })

  it('does not start the handler when an observer of the start aborts the call', async () => {
    const controller = new AbortController()
    let started = false
    const tool = new Tool({
      name: 'late',
      description: 'Must not start.',
      inputSchema: { type: 'object' },
      handler: () => {
        started = true
      },
    })
    const events: Event[] = []
    const emit = (event: Event) => {
      events.push(event)
      controller.abort(new Error('stop'))
    }
    await expect(tool.executor({ signal: controller.signal, emit })({})).rejects.toThrow('stop')
    expect(started).toBe(false)
    expect(events).toMatchObject([{ type: 'toolExecutionStart' }, { isError: true }])
  })

  it('works without any context', async () => {
    expect(await echo.executor()({ text: 'x' })).toBe('x')
  })
})

describe('the context of a handler', () => {
  const capture = async (context: Parameters<Tool['executor']>[0]) => {
    let seen: ToolContext | undefined
    const tool = new Tool({
      name: 'peek',
      description: 'Keeps its context.',
      inputSchema: { type: 'object' },
      handler: (_, ctx) => {
        seen = ctx
      },
    })
    await tool.executor(context)({})
    return seen as ToolContext
  }

  it('carries signal, ids, key and the capabilities it is given', async () => {
    const updates: unknown[] = []
    const { signal } = new AbortController()
    const ctx = await capture({
      signal,
      toolCallId: 'call_7',
      idempotencyKey: 'key_7',
      progress: (update) => updates.push(update),
      secret: (name) => `${name}!`,
    })
    expect(ctx.signal).toBe(signal)
    expect(ctx.toolCallId).toBe('call_7')
    expect(ctx.idempotencyKey).toBe('key_7')
    expect(ctx.callId).toBe(checksum('peek', {}))
    ctx.progress({ done: 0.5 })
    expect(updates).toEqual([{ done: 0.5 }])
    expect(await ctx.secret('token')).toBe('token!')
  })

  it('has everything as properties of its own, so that a copy has it too', async () => {
    const { signal } = new AbortController()
    const context = await capture({ signal, toolCallId: 'call_1' })
    expect({ ...context }).toMatchObject({ signal, toolCallId: 'call_1', callId: context.callId })
    expect(Object.create(context).signal).toBe(signal)
    expect(new Proxy(context, {}).signal).toBe(signal)
  })

  it('has one signal of its own when nothing can abort it', async () => {
    const context = await capture({})
    expect(context.signal.aborted).toBe(false)
    expect(context.signal).toBe(context.signal)
    expect(context.signal).not.toBe((await capture({})).signal)
  })

  it('always has an idempotency key', async () => {
    expect((await capture({ toolCallId: 'call_7' })).idempotencyKey).toBe('call_7')
    expect((await capture({})).idempotencyKey).toMatch(/.{30,}/)
  })

  it('says how to get what is missing', async () => {
    const ctx = await capture({})
    await expect(ctx.secret('token')).rejects.toMatchObject({
      code: 'E_MISSING_CAPABILITY',
      message: expect.stringContaining('a TurnRunner that has `secrets`') as string,
    })
    await expect(ctx.spool('data')).rejects.toThrow(/TurnRunner/)
  })
})

describe('ArtifactTool', () => {
  const make = (extra: object = {}) =>
    new ArtifactTool({
      name: 'artifact_shout',
      description: 'Shouts.',
      inputSchema: z.object({ text: z.string() }),
      handler: ({ text }) => text.toUpperCase(),
      ...extra,
    })

  it('answers with text as it stands', async () => {
    expect(await make().executor()({ text: 'a' })).toBe('A')
    expect(ArtifactTool.isArtifactTool(make())).toBe(true)
    expect(Tool.isTool(make())).toBe(true)
    expect(ArtifactTool.isArtifactTool(echo)).toBe(false)
  })

  it('takes no artifactConstructor', () => {
    expect(() => make({ artifactConstructor: () => undefined })).toThrow(/never wrapped/)
  })
})
