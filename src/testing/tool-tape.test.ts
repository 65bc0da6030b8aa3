import { describe, expect, it } from 'vitest'
import { byHand, sampleTool } from '../../test/turn-samples.ts'
import { SpooledJsonArtifact } from '../artifacts/spooled-json-artifact.ts'
import { checksum as checksumOf } from '../core/checksum.ts'
import { Media } from '../spool/media.ts'
import { bytesMedia } from '../spool/media-reader.ts'
import type { TurnOutcome } from '../turn/limits/outcome.ts'
import { TurnRunner } from '../turn/turn-runner.ts'
import { eventRecorder } from './event-recorder.ts'
import { scriptedModel } from './scripted-model.ts'
import { type TapedCall, toolTape } from './tool-tape.ts'

const picture = () =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    trustTier: 'first-party',
    modalityHazard: 'inert',
    reader: bytesMedia(new Uint8Array([1, 2, 255])),
  })

const script = () =>
  scriptedModel([
    [
      { call: 'text', args: { q: 'a' }, id: '1' },
      { call: 'json', id: '2' },
      { call: 'picture', id: '3' },
      { call: 'fails', id: '4' },
      { call: 'several', id: '5' },
    ],
    [{ text: 'done' }],
  ])

function play(tape: ReturnType<typeof toolTape>, mode: 'record' | 'replay') {
  let runs = 0
  const counted = <T>(value: T) => {
    runs++
    return value
  }
  const runner = new TurnRunner({
    model: script(),
    middleware: [tape[mode]],
    tools: [
      sampleTool('text', ({ q }) => counted(`text ${q} ${runs}`)),
      sampleTool('json', () => counted({ n: [1, 2] })),
      sampleTool('picture', () => counted(picture())),
      sampleTool('fails', () => {
        counted(0)
        throw new Error('no such host')
      }),
      sampleTool('several', async (_, ctx) =>
        counted([await ctx.spool('x'), await ctx.spool('y')]),
      ),
    ],
  })
  return {
    run: () => runner.run({ message: 'go' }),
    runs: () => runs,
    events: eventRecorder(runner),
  }
}

describe('toolTape', () => {
  it('gives the same calls the same results again without running a handler', async () => {
    const tape = toolTape()
    const first = play(tape, 'record')
    const recorded = await first.run()
    expect(first.runs()).toBe(5)
    const calls = JSON.parse(JSON.stringify(tape.calls)) as TapedCall[]
    const again = toolTape({ calls })
    const second = play(again, 'replay')
    const replayed = await second.run()
    expect(second.runs()).toBe(0)
    expect(second.events.of('toolExecutionStart')).toEqual([])
    again.done()
    const essence = (outcome: typeof recorded) =>
      outcome.toolCalls.map(({ id, checksum, settlement, results }) => ({
        id,
        checksum,
        settlement,
        results: JSON.stringify(results),
      }))
    expect(essence(replayed)).toEqual(essence(recorded))
    expect(replayed.toolCalls[1]?.results).toBeInstanceOf(SpooledJsonArtifact)
  })

  it('refuses a call that is not on the tape and says so when it is done', async () => {
    const tape = toolTape()
    const { run } = play(tape, 'replay')
    const outcome = await run()
    expect(outcome.toolCalls.map(({ settlement }) => settlement)).toEqual(
      Array.from({ length: 5 }, () => 'refused'),
    )
    expect(() => tape.done()).toThrow(/`text` was called with arguments that are not on it/)
  })

  it('says which taped calls were never asked for', async () => {
    const tape = toolTape()
    await play(tape, 'record').run()
    const [only] = tape.calls
    const args = { q: 'z' }
    const sum = checksumOf('other', args)
    const extra = { ...(only as TapedCall), tool: 'other', args, checksum: sum }
    const again = toolTape({ calls: [...tape.calls, extra] })
    await play(again, 'replay').run()
    expect(() => again.done()).toThrow('`other` was never called')
  })

  it('gives identical calls that ran side by side each its own result again', async () => {
    const twins = () =>
      scriptedModel([
        [
          { call: 'ask', id: 'a' },
          { call: 'ask', id: 'b' },
          { call: 'ask', id: 'c' },
        ],
        [{ text: 'done' }],
      ])
    const ends = [byHand<string>(), byHand<string>(), byHand<string>()]
    let next = 0
    const ask = sampleTool('ask', () => ends[next++]?.promise ?? 'never')
    const tape = toolTape()
    const recording = new TurnRunner({ model: twins(), tools: [ask], middleware: [tape.record] })
    const running = recording.run({ message: 'go' })
    for (const at of [1, 2, 0]) {
      ends[at]?.resolve(`answer ${at}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const texts = ({ toolCalls }: TurnOutcome) =>
      Promise.all(toolCalls.map(({ results }) => (results as SpooledJsonArtifact).asString()))
    expect(await texts(await running)).toEqual(['answer 0', 'answer 1', 'answer 2'])
    const again = toolTape({ calls: tape.calls })
    const replaying = new TurnRunner({ model: twins(), tools: [ask], middleware: [again.replay] })
    const replayed = await replaying.run({ message: 'go' })
    expect(await texts(replayed)).toEqual(['answer 0', 'answer 1', 'answer 2'])
  })

  it('refuses a tape whose arguments or checksums were altered, and names each call', async () => {
    const tape = toolTape()
    await play(tape, 'record').run()
    const altered = tape.calls.map((call) =>
      call.tool === 'text' ? { ...call, args: { q: 'b' } } : call,
    )
    expect(() => toolTape({ calls: altered })).toThrow('call 1, `text`, is not that of')
    const forged = tape.calls.map((call) => ({ ...call, checksum: '0'.repeat(64) }))
    expect(() => toolTape({ calls: forged })).toThrow('call 5, `several`')
    expect(() => toolTape({ calls: tape.calls })).not.toThrow()
  })
})
