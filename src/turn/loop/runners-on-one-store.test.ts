import { describe, expect, it } from 'vitest'
import { sampleTool } from '../../../test/turn-samples.ts'
import { Media } from '../../spool/media.ts'
import { bytesMedia } from '../../spool/media-reader.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { TurnRunner } from '../turn-runner.ts'

const picture = () =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    trustTier: 'first-party',
    modalityHazard: 'opaque-perceptual',
    reader: bytesMedia(new Uint8Array([137, 80, 78, 71])),
  })

describe('two runners on one memory store', () => {
  it('show the second model the pictures that the first was shown', async () => {
    const store = memoryStore()
    const tools = [sampleTool('draw', picture)]
    const first = scriptedModel([[{ call: 'draw' }], [{ text: 'A picture.' }]])
    const input = { conversation: 'c', message: 'Look.', attachments: [picture()] }
    await new TurnRunner({ model: first, tools, store }).run(input)

    const second = scriptedModel([[{ text: 'The same.' }]])
    await new TurnRunner({ model: second, tools, store }).run({
      conversation: 'c',
      message: 'And?',
    })
    const shown = JSON.stringify(second.requests[0]?.items)
    expect(shown).not.toMatch(/cannot be read/)
    expect(shown.match(/iVBORw==/g)).toHaveLength(2)
  })

  it('let the second one query what the first one spooled', async () => {
    const store = memoryStore()
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}`).join('\n')
    const tools = [sampleTool('read_log', () => lines, { inline: false })]
    const first = scriptedModel([[{ call: 'read_log', id: 'log' }], [{ text: 'Read.' }]])
    await new TurnRunner({ model: first, tools, store }).run({
      conversation: 'c',
      message: 'Read.',
    })

    const query = { call: 'artifact_grep', args: { callId: 'log', pattern: '19999' } }
    const second = scriptedModel([[query], [{ text: 'There.' }]])
    const runner = new TurnRunner({ model: second, tools, store })
    const { toolCalls } = await runner.run({ conversation: 'c', message: 'Is 19999 there?' })
    expect(toolCalls).toMatchObject([{ settlement: 'ok', results: { text: '19999: line 19999' } }])
  })

  it('can export and import what they spooled', async () => {
    const store = memoryStore()
    const big = 'x'.repeat(100_000)
    const model = scriptedModel([[{ call: 'read_log' }], [{ text: 'Read.' }]])
    const tools = [sampleTool('read_log', () => big, { inline: false })]
    await new TurnRunner({ model, tools, store }).run({ conversation: 'c', message: 'Read.' })
    const exported: string[] = []
    for await (const line of store.export('c')) exported.push(line)
    await memoryStore().import(exported)
    expect((await store.verify({ conversation: 'c' })).ok).toBe(true)
  })
})
