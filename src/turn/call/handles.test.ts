import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { SpooledTableArtifact } from '../../artifacts/spooled-table-artifact.ts'
import type { Model } from '../../model/model.ts'
import { inlineBySize } from '../../prompt/inline-by-size.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import type { Tokenizable } from '../../text/tokenizable.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import { TurnRunner } from '../turn-runner.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const LINE = `${'all is well in this line of the log, '.repeat(3)}\n`
const LINES = Math.ceil((30 * 1024 * 1024) / LINE.length)
const AT = 123_456

/** 30 MB in which one line tells what happened. */
async function* hugeLog() {
  for (let from = 0; from < LINES; from += 1_000) {
    const count = Math.min(1_000, LINES - from)
    const lines = Array.from({ length: count }, (_, n) =>
      from + n === AT ? 'ERROR the needle: disk 7 failed\n' : LINE,
    )
    yield lines.join('')
  }
}

const readLog = () => sampleTool('read_log', () => hugeLog() as never, { inline: false })

/** Finds the needle the way a model would: from what it is shown and nothing else. */
function seeker(sizes: number[]): Model {
  return {
    api: 'scripted',
    provider: 'bobbin',
    model: 'seeker',
    async *stream({ items, instructions = '', tools = [] }) {
      const prompt = JSON.stringify({ items, instructions, tools })
      sizes.push(prompt.length)
      const found = /ERROR the needle: (disk \d+ failed)/.exec(prompt)
      const grep = tools.find(({ name }) => name === 'artifact_grep')
      const wire = {
        provider: 'bobbin',
        api: 'scripted',
        type: 'call',
        origin: 'synthetic',
      } as const
      const call = (tool: string, args: { [key: string]: string }) =>
        ({ type: 'call', id: tool, tool, args, wire, executedBy: 'runner' }) as const
      const message = (text: string) =>
        ({ type: 'message', role: 'assistant', parts: [{ type: 'text', text }] }) as const
      const callId = /Read it with callId \\"(.+?)\\"/.exec(prompt)?.[1]
      // A search whose time was over says where to go on.
      const cursor = [...prompt.matchAll(/line:\d+(?:\+\d+)?/g)].at(-1)?.[0]
      const goOn = cursor === undefined ? {} : { cursor }
      const item =
        found !== null
          ? message(`It was ${found[1]}.`)
          : grep === undefined || callId === undefined
            ? call('read_log', {})
            : call('artifact_grep', { callId, pattern: '^ERROR', ...goOn })
      const reason = item.type === 'call' ? 'tools' : 'stop'
      yield { type: 'finish', reason, items: [item], unfinished: [] }
    },
  }
}

describe('a result of 30 MB', () => {
  it('is a handle; the model finds the needle with artifact_grep within the bounds', async () => {
    const sizes: number[] = []
    const runner = new TurnRunner({ model: seeker(sizes), tools: [readLog()] })
    const recorder = eventRecorder(runner)
    const outcome = await runner.run({ message: 'what broke?' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'It was disk 7 failed.' })
    const [read, ...greps] = outcome.toolCalls
    expect(read).toMatchObject({ tool: 'read_log', inline: false, fromArtifactTool: false })
    expect(greps.length).toBeGreaterThan(0)
    for (const grep of greps) {
      expect(grep).toMatchObject({ tool: 'artifact_grep', inline: true, fromArtifactTool: true })
    }
    expect(Math.max(...sizes)).toBeLessThan(40_000)
    const told = recorder.of('toolCall').filter(({ isComplete }) => isComplete)
    expect(typeof told[1]?.results).toBe('string')
  }, 60_000)

  it('is still there for another runner on the same store, also in memory', async () => {
    const store = memoryStore()
    const tools = [sampleTool('report', () => 'a line\n'.repeat(20_000))]
    const script = [[{ call: 'report', id: 'c1' }], [{ text: 'read it' }]]
    const first = new TurnRunner({ model: scriptedModel(script), tools, store })
    await first.run({ message: 'report', conversation: 'k' })
    const model = scriptedModel([[{ text: 'seen' }]])
    await new TurnRunner({ model, tools, store }).run({ message: 'and?', conversation: 'k' })
    expect(JSON.stringify(model.requests[0]?.items)).toContain('a line')
    expect((await store.verify({ conversation: 'k' })).faults).toEqual([])
  })

  it('is still there in the next turn, in another process with the same store', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bobbin-'))
    folders.push(folder)
    const path = join(folder, 'agent.db')
    const first = sqliteStore(path)
    const script = [[{ call: 'read_log', id: 'c1' }], [{ text: 'read it' }]]
    const reader = new TurnRunner({
      model: scriptedModel(script),
      tools: [readLog()],
      store: first,
    })
    await reader.run({ message: 'read the log', conversation: 'k' })
    await first.close()
    const second = sqliteStore(path)
    const sizes: number[] = []
    const runner = new TurnRunner({ model: seeker(sizes), tools: [readLog()], store: second })
    const outcome = await runner.run({ message: 'what broke?', conversation: 'k' })
    expect(outcome).toMatchObject({ status: 'completed', text: 'It was disk 7 failed.' })
    expect(new Set(outcome.toolCalls.map(({ tool }) => tool))).toEqual(new Set(['artifact_grep']))
    expect(Math.max(...sizes)).toBeLessThan(40_000)
    expect((await second.verify({ conversation: 'k' })).faults).toEqual([])
    await second.close()
  }, 60_000)
})

const shownIn = (model: ReturnType<typeof scriptedModel>, at = -1) =>
  model.requests.at(at)?.items.filter(({ type }) => type === 'call') ?? []

describe('inline', () => {
  const play = async (inline: boolean | ReturnType<typeof inlineBySize>, text: string) => {
    const model = scriptedModel([[{ call: 'look', id: 'c' }], [{ text: 'x' }]])
    const runner = new TurnRunner({ model, tools: [sampleTool('look', () => text, { inline })] })
    const recorder = eventRecorder(runner)
    const { toolCalls } = await runner.run({ message: 'go' })
    const offered = model.requests[1]?.tools?.map(({ name }) => name) ?? []
    return {
      isInline: toolCalls[0]?.inline,
      prompt: JSON.stringify(shownIn(model)),
      offered,
      recorder,
    }
  }

  it('shows the text, and forges no tools', async () => {
    const { prompt, offered } = await play(true, 'the text')
    expect(prompt).toContain('the text')
    expect(offered).toEqual(['look'])
  })

  it('is decided by size where the tool says so', async () => {
    const bySize = inlineBySize({ bytes: 100 })
    expect(await play(bySize, 'small')).toMatchObject({ isInline: true })
    const large = await play(bySize, 'x'.repeat(101))
    expect(large.isInline).toBe(false)
    expect(large.offered).toContain('artifact_cat')
  })

  it.each([
    ['is async and fails', () => Promise.reject(new Error('policy'))],
    [
      'throws',
      () => {
        throw new Error('policy')
      },
    ],
    ['is async', async () => true],
    ['decides nothing', () => undefined],
  ] as [string, () => never][])(
    'is a handle when the function that decides %s, and that is told',
    async (_, inline) => {
      const { isInline, recorder } = await play(inline, 'text')
      expect(isInline).toBe(false)
      expect(recorder.of('error')).toMatchObject([{ where: 'inline' }])
    },
  )

  it('can be decided by middleware for every tool', async () => {
    const model = scriptedModel([[{ call: 'look', id: 'c' }], [{ text: 'x' }]])
    const runner = new TurnRunner({
      model,
      tools: [sampleTool('look', () => 'the text')],
      middleware: [
        {
          async call(subject, next) {
            const { settlement, results } = await next()
            return subject.record({ settlement, results, inline: false })
          },
        },
      ],
    })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(toolCalls).toMatchObject([{ inline: false, settlement: 'ok' }])
    expect(model.requests[1]?.tools?.map(({ name }) => name)).toContain('artifact_grep')
  })

  it('reads every result that has come since with tools that never change', async () => {
    const look = sampleTool('look', ({ q }) => `${q}`, { inline: false })
    const steps = ['a', 'b'].map((q) => [{ call: 'look', id: q, args: { q } }])
    const cat = (callId: string) => ({
      call: 'artifact_cat',
      id: `cat ${callId}`,
      args: { callId },
    })
    const model = scriptedModel([
      [cat('early')],
      ...steps,
      [cat('a'), cat('b'), cat('other')],
      [{ text: 'x' }],
    ])
    const { toolCalls } = await new TurnRunner({ model, tools: [look] }).run({ message: 'go' })
    const [first, ...others] = model.requests.map(({ tools }) => JSON.stringify(tools))
    expect(first).toContain('artifact_cat')
    for (const tools of others) expect(tools).toBe(first)
    const answers = toolCalls.filter(({ tool }) => tool === 'artifact_cat')
    expect(answers.map(({ settlement }) => settlement)).toEqual(['refused', 'ok', 'ok', 'refused'])
    expect(answers.map(({ results }) => (results as Tokenizable).text)).toEqual([
      expect.stringContaining('no result of a call `early`. There is no result to read yet.'),
      '0: a',
      '0: b',
      expect.stringContaining('no result of a call `other`. Use one of these as `callId`: a, b.'),
    ])
  })

  it('forges tools for every kind that a tool can give', async () => {
    const rows = sampleTool('rows', () => 'a,b', {
      inline: false,
      artifactConstructor: () => SpooledTableArtifact,
    })
    const model = scriptedModel([[{ text: 'x' }]])
    await new TurnRunner({ model, tools: [rows] }).run({ message: 'go' })
    const names = model.requests[0]?.tools?.map(({ name }) => name)
    expect(names).toContain('artifact_table_rows')
    expect(names).not.toContain('artifact_json_get')
  })

  it('offers the newest 64 of many results', async () => {
    const look = sampleTool('look', ({ q }) => `${q}`, { inline: false })
    const calls = Array.from({ length: 70 }, (_, n) => ({
      call: 'look',
      id: `c${n}`,
      args: { q: `${n}` },
    }))
    const cats = calls.map(({ id: callId }) => ({ call: 'artifact_cat', args: { callId } }))
    const model = scriptedModel([calls, cats, [{ text: 'x' }]])
    // One after the other: the newest are those that settled last.
    const runner = new TurnRunner({ model, tools: [look], concurrency: 1 })
    const { toolCalls } = await runner.run({ message: 'go' })
    const read = toolCalls.slice(70).filter(({ settlement }) => settlement === 'ok')
    expect(read.map(({ args }) => args['callId'])).toEqual(calls.slice(6).map(({ id }) => id))
  })

  it('keeps a handle on offer however many answers were read from it', async () => {
    const grep = (n: number) => [
      { call: 'artifact_cat', args: { callId: 'c', start: n }, id: `g${n}` },
    ]
    const model = scriptedModel([
      [{ call: 'look', id: 'c' }],
      ...Array.from({ length: 70 }, (_, n) => grep(n)),
      [{ text: 'x' }],
    ])
    const look = sampleTool('look', () => 'line\n'.repeat(100), { inline: false })
    const runner = new TurnRunner({ model, tools: [look], limits: { iterations: 100 } })
    const { toolCalls, status } = await runner.run({ message: 'go' })
    expect(status).toBe('completed')
    expect(toolCalls.filter(({ settlement }) => settlement !== 'ok')).toEqual([])
  })
})

describe('outputs', () => {
  const outputs = async (handler: (args: object, ctx: ToolContext) => unknown) => {
    const model = scriptedModel([[{ call: 'look', id: 'c' }], [{ text: 'x' }]])
    const runner = new TurnRunner({ model, tools: [sampleTool('look', handler as never)] })
    const { toolCalls } = await runner.run({ message: 'go' })
    return { call: toolCalls[0], prompt: JSON.stringify(shownIn(model)) }
  }
  const picture = (bytes = new Uint8Array([1, 2, 3])) =>
    new Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      trustTier: 'first-party',
      modalityHazard: 'inert',
      reader: bytesMedia(bytes),
    })

  it('pass media through untouched, announced and rendered', async () => {
    const media = picture()
    const { call, prompt } = await outputs(() => media)
    expect(call?.results).toBe(media)
    expect(prompt).toContain('AQID')
    expect(prompt).toContain('a.png')
  })

  it('that are gone from the spool keep nothing else of the conversation from the model', async () => {
    const [store, spool] = [memoryStore(), memorySpool()]
    const [shot, sent] = [picture(), picture(new Uint8Array([4, 5, 6]))]
    const tools = [sampleTool('look', () => shot)]
    const run = (model: Model, attachments: readonly Media[] = []) =>
      new TurnRunner({ store, spool, tools, model }).run({
        message: 'go',
        conversation: 'c',
        attachments,
      })
    await run(scriptedModel([[{ call: 'look' }], [{ text: 'x' }]]), [sent])
    for (const { digest } of [shot, sent]) await spool.delete(digest ?? '')
    const model = scriptedModel([[{ text: 'still here' }]])
    expect(await run(model)).toMatchObject({ status: 'completed', text: 'still here' })
    const prompt = JSON.stringify(model.requests)
    expect(prompt.match(/stored but cannot be read now \(E_SPOOL_NOT_FOUND\)/g)).toHaveLength(2)
  })

  it('that have changed on the spool are not sent', async () => {
    const [store, inner] = [memoryStore(), memorySpool()]
    const other = await inner.write(new Uint8Array([9, 9, 9]))
    let isDamaged = false
    const spool: SpoolStore = {
      ...inner,
      read: async (digest) => (isDamaged ? other : inner.read(digest)),
    }
    const tools = [sampleTool('look', () => picture())]
    const run = (model: Model) =>
      new TurnRunner({ store, spool, tools, model }).run({ message: 'go', conversation: 'c' })
    await run(scriptedModel([[{ call: 'look' }], [{ text: 'x' }]]))
    isDamaged = true
    const model = scriptedModel([[{ text: 'still here' }]])
    expect(await run(model)).toMatchObject({ status: 'completed', text: 'still here' })
    const prompt = JSON.stringify(model.requests)
    expect(prompt).not.toContain('CQkJ')
    expect(prompt).toContain('[This image is stored but cannot be read now (E_SPOOL_CORRUPT).]')
  })

  it.each([
    ['a date', /^`output.at` is not a plain object/, () => ({ at: new Date() })],
    ['a map', /^`output` is not a plain object/, () => new Map()],
    [
      'a list with artifacts and JSON',
      /^The tool returned a mixed list/,
      async (_: object, ctx: ToolContext) => [await ctx.spool('x'), { n: 1 }],
    ],
    [
      'media inside a list inside a list',
      /inside `output\[1\]`: a list inside a list must be plain JSON/,
      () => ['x', [picture()], picture()],
    ],
    [
      'a cycle',
      /^`output.ring` contains itself/,
      () => {
        const ring: Record<string, unknown> = {}
        ring['ring'] = ring
        return ring
      },
    ],
  ])('fail the call when they hold %s, with the path', async (_, text, handler) => {
    const { call } = await outputs(handler)
    const results = { text: expect.stringMatching(text) }
    expect(call).toMatchObject({ settlement: 'failed', isError: true, results })
  })

  it('are kept when a handler returns an artifact of another spool', async () => {
    const store = memoryStore()
    const foreign = memoryStore()
    const spool = memorySpool()
    const model = () => scriptedModel([[{ call: 'look' }], [{ text: 'x' }]])
    const inner = new TurnRunner({
      model: model(),
      store: foreign,
      tools: [sampleTool('look', () => 'foreign text')],
    })
    const made: unknown = (await inner.run({ message: 'go' })).toolCalls[0]?.results
    const outer = new TurnRunner({
      model: model(),
      store,
      spool,
      tools: [sampleTool('look', () => made as never)],
    })
    const { conversation } = await outer.run({ message: 'go' })
    expect((await store.verify({ conversation, spool })).faults).toEqual([])
  })
})
