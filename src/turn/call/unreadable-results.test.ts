import { describe, expect, it } from 'vitest'
import {
  abortedIn,
  callsOnce,
  endOf,
  FAILURES,
  HANGS,
  image,
  type Misdeed,
  oddReader,
} from '../../../test/hostile-parts.ts'
import { sampleTool } from '../../../test/turn-samples.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import type { SpoolReader } from '../../spool/spool-reader.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { type ScriptedModel, scriptedModel } from '../../testing/scripted-model.ts'
import type { ToolOutput } from '../../tools/tool-context.ts'
import { TurnRunner } from '../turn-runner.ts'

/** Makes a reader do the misdeed when it is read. */
type Spoil = (reader: SpoolReader, misdeed: Misdeed) => SpoolReader

const iterated = (next: Misdeed) => (() => ({ [Symbol.asyncIterator]: () => ({ next }) })) as never

const ALL = ['read', 'stream', 'lineStart', 'lineAt', 'verify'] as const
const CASES: readonly [string, () => ToolOutput, Spoil][] = [
  ['an image', () => image(), (reader, misdeed) => oddReader(reader, ['stream'], misdeed)],
  [
    'an image, chunk by chunk',
    () => image(),
    (reader, misdeed) => oddReader(reader, ['stream'], iterated(misdeed)),
  ],
  ['a text', () => 'line\n'.repeat(40_000), (reader, misdeed) => oddReader(reader, ALL, misdeed)],
]

/** A spool of an application's own over another, whose readers do the misdeed. */
const spoiled = (spool: SpoolStore, spoil: Spoil, misdeed: Misdeed): SpoolStore => ({
  ...spool,
  write: async (data, options) => spoil(await spool.write(data, options), misdeed),
  read: async (digest) => spoil(await spool.read(digest), misdeed),
})

describe.each(CASES)('a stored result that cannot be read: %s', (_, give, spoil) => {
  it.each(FAILURES)('costs its turn nothing when the spool %s', async (__, misdeed) => {
    const tools = [sampleTool('t', give)]
    const spool = spoiled(memorySpool(), spoil, misdeed)
    expect(await endOf({ tools, spool })).toEqual(['completed', 'ok'])
  })

  it('is told to the model and to observers, each in its words', async () => {
    const model = callsOnce() as ScriptedModel
    const spool = spoiled(memorySpool(), spoil, () => {
      throw new Error('the bucket s3://private is gone')
    })
    const runner = new TurnRunner({ model, tools: [sampleTool('t', give)], spool })
    const recorder = eventRecorder(runner)
    await runner.run({ message: 'go' })
    const sent = JSON.stringify(model.requests[1]?.items)
    expect(sent).toContain('is stored but cannot be read now.')
    expect(sent).not.toContain('private')
    expect(recorder.of('error').map(({ where, error }) => [where, String(error)])).toEqual([
      ['read', 'Error: the bucket s3://private is gone'],
    ])
  })
})

describe.each(CASES.slice(1))('a stored result that hangs: %s', (_, give, spoil) => {
  it.each(HANGS)('ends with its turn when the spool %s', async (__, hang) => {
    const { misdeed, signal } = abortedIn(hang)
    const options = {
      tools: [sampleTool('t', give)],
      spool: spoiled(memorySpool(), spoil, misdeed),
    }
    const end = await endOf(options, { signal })
    expect(end).toEqual(['aborted', 'ABORTED', 'ok'])
  })

  it.each(HANGS)('holds up no later turn that is cut off: it %s', async (__, hang) => {
    const { misdeed, signal } = abortedIn(hang)
    const [store, spool] = [memoryStore(), memorySpool()]
    const tools = [sampleTool('t', give)]
    const input = { message: 'go', conversation: 'c' }
    await new TurnRunner({ model: callsOnce(), tools, store, spool }).run(input)
    const odd = spoiled(spool, spoil, misdeed)
    const next = { model: scriptedModel([]), tools, store, spool: odd }
    expect(await endOf(next, { signal })).toEqual(['aborted', 'ABORTED'])
  })
})
