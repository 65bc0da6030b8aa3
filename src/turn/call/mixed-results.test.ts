import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import type { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { SpooledJsonArtifact } from '../../artifacts/spooled-json-artifact.ts'
import type { ContentPart, HistoryItem } from '../../records/history-item.ts'
import type { ToolCall } from '../../records/tool-call.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { toolTape } from '../../testing/tool-tape.ts'
import { TurnRunner } from '../turn-runner.ts'

const picture = (filename: string, byte: number) =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename,
    trustTier: 'third-party',
    modalityHazard: 'inert',
    reader: bytesMedia(new Uint8Array([byte, byte, byte])),
  })

const mixed = () => ['first text', picture('a.png', 1), { n: 1 }, picture('b.png', 2), 'last text']

const calls = () => scriptedModel([[{ call: 'look', id: 'c' }], [{ text: 'seen' }]])

/** The parts of the result as the last request shows them: a word of each text, or the name of the media. */
function shown({ requests }: ReturnType<typeof scriptedModel>): string[] {
  const items: readonly HistoryItem[] = requests.at(-1)?.items ?? []
  const call = items.find((item) => item.type === 'call')
  return (call?.result?.parts ?? []).map(nameOf)
}

const nameOf = (part: ContentPart): string =>
  part.type === 'text'
    ? (/first text|"n": 1|last text|The image that follows/.exec(part.text)?.[0] ?? part.text)
    : (part.filename ?? '')

const ORDER = [
  'first text',
  'The image that follows',
  'a.png',
  '"n": 1',
  'The image that follows',
  'b.png',
  'last text',
]

describe('a list of texts, JSON values and media', () => {
  it('is shown in the order in which it was returned', async () => {
    const model = calls()
    const runner = new TurnRunner({ model, tools: [sampleTool('look', mixed)] })
    const { toolCalls } = await runner.run({ message: 'go' })
    expect(shown(model)).toEqual(ORDER)
    const [call] = toolCalls
    const results = call?.results as readonly SpooledArtifact[]
    expect(await Promise.all(results.map((one) => one.asString()))).toEqual([
      'first text',
      '{\n  "n": 1\n}',
      'last text',
    ])
    expect(results[1]).toBeInstanceOf(SpooledJsonArtifact)
    expect(call?.media).toMatchObject([
      { place: 1, media: { filename: 'a.png' } },
      { place: 3, media: { filename: 'b.png' } },
    ])
  })

  it('is shown in the same way after a reload', async () => {
    const store = memoryStore()
    const turn = { message: 'go', conversation: 'c' }
    const tools = [sampleTool('look', mixed)]
    const before = calls()
    await new TurnRunner({ store, tools, model: before }).run(turn)
    const after = scriptedModel([[{ text: 'again' }]])
    await new TurnRunner({ store, tools, model: after }).run(turn)
    expect(shown(after)).toEqual(ORDER)
    const item = (requests: typeof before.requests) =>
      requests.at(-1)?.items.find(({ type }) => type === 'call')
    expect(item(after.requests)).toEqual(item(before.requests))
  })

  it('is a handle and its media if the tool is not inline', async () => {
    const model = calls()
    const tools = [sampleTool('look', mixed, { inline: false })]
    await new TurnRunner({ model, tools }).run({ message: 'go' })
    const [handle, ...rest] = shown(model)
    expect(handle).toContain('artifact_')
    expect(rest).toEqual(['The image that follows', 'a.png', 'The image that follows', 'b.png'])
  })

  it('has one artifact as its result if there is one text', async () => {
    const model = calls()
    const tools = [sampleTool('look', () => [picture('a.png', 1), 'last text'])]
    const { toolCalls } = await new TurnRunner({ model, tools }).run({ message: 'go' })
    expect(shown(model)).toEqual(['The image that follows', 'a.png', 'last text'])
    const [call] = toolCalls as [ToolCall]
    expect(await (call.results as SpooledArtifact).asString()).toBe('last text')
  })

  it('is replayed by a tape', async () => {
    const tape = toolTape()
    const play = async (middleware: typeof tape.record, handler: () => unknown) => {
      const model = calls()
      const tools = [sampleTool('look', handler as never)]
      const { toolCalls } = await new TurnRunner({ model, tools, middleware: [middleware] }).run({
        message: 'go',
      })
      return { order: shown(model), call: toolCalls[0] as ToolCall }
    }
    const recorded = await play(tape.record, mixed)
    const kept = toolTape({ calls: JSON.parse(JSON.stringify(tape.calls)) as typeof tape.calls })
    const replayed = await play(kept.replay, () => 'the handler must not run')
    expect(replayed.order).toEqual(recorded.order)
    expect(replayed.call.media).toMatchObject([{ place: 1 }, { place: 3 }])
    kept.done()
  })
})
