import { describe, expect, it } from 'vitest'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { Media } from '../../spool/media.ts'
import { memoryStore } from '../../store/memory/memory-store.ts'
import { storedResults } from '../../store/stored-results.ts'
import { eventRecorder } from '../../testing/event-recorder.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { type WireApi, wire } from '../../wire/index.ts'
import { TurnRunner } from '../turn-runner.ts'

const BYTES = [0xfb, 0xff, 0xbf, 1]
const DATA = '+/+/AQ=='

/** Runs a turn whose model answers with the items of a payload; gives the record as live and as stored. */
async function recorded(api: WireApi, payload: object) {
  const store = memoryStore()
  const { items } = wire(api).decode(payload)
  const parts = items.flatMap((item) => (item.type === 'raw' ? [] : [{ item }]))
  const runner = new TurnRunner({ model: scriptedModel([[...parts, { text: 'so' }]]), store })
  const recorder = eventRecorder(runner)
  const { toolCalls, conversation } = await runner.run({ message: 'go' })
  expect((await store.verify({ conversation })).faults).toEqual([])
  const spool = storedResults(store)
  const { entries } = await store.find({ conversation, kind: 'settlement' })
  const stored = entries.map(({ entry }) => ToolCall.fromJSON(entry.data, { spool }))
  const told = recorder.of('toolCall').filter(({ isComplete }) => isComplete)
  return { live: toolCalls[0] as ToolCall, stored: stored[0] as ToolCall, told }
}

async function bytesOf(media: unknown): Promise<number[]> {
  const bytes: number[] = []
  expect(Media.isMedia(media)).toBe(true)
  for await (const chunk of (media as Media).stream()) bytes.push(...chunk)
  return bytes
}

const drawn = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA }
const gemini = (...parts: object[]) => [{ role: 'model', parts }]
const code = { executableCode: { language: 'PYTHON', code: 'plot()' } }
const printed = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'done' } }
const picture = { inlineData: { mimeType: 'image/png', data: '-_-_AQ==' } }
const source = (media_type: string) => ({ type: 'base64', media_type, data: DATA })
const answered = (use: object, result: object) => [
  { role: 'user', content: 'go' },
  { role: 'assistant', content: [use, result] },
]
const interpreted = (...outputs: object[]) => [
  { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: 'x', outputs },
]
const chart = { type: 'image', url: `data:image/png;base64,${DATA}` }
const mcp = answered(
  { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'draw', server_name: 's', input: {} },
  {
    type: 'mcp_tool_result',
    tool_use_id: 'mcptoolu_1',
    is_error: false,
    content: [{ type: 'image', source: source('image/png') }],
  },
)
const fetched = answered(
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_fetch', input: { url: 'https://a.b' } },
  {
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'web_fetch_result',
      url: 'https://a.b',
      content: { type: 'document', source: source('application/pdf') },
    },
  },
)

describe('the record of a call that its provider ran', () => {
  it.each<[string, WireApi, object, object]>([
    ['an image of OpenAI', 'openai-responses', [drawn], { mimeType: 'image/png' }],
    ['an image of Foundry', 'foundry', [drawn], { mimeType: 'image/png' }],
    [
      'an image in another format',
      'openai-responses',
      [{ ...drawn, output_format: 'webp' }],
      { mimeType: 'image/webp' },
    ],
    ['a chart of OpenAI', 'openai-responses', interpreted(chart), { mimeType: 'image/png' }],
    ['an image of an MCP server', 'anthropic-messages', mcp, { mimeType: 'image/png' }],
    ['a chart of Gemini', 'gemini', gemini(code, picture), { mimeType: 'image/png' }],
  ])('has media as `Media`, live and after a reload: %s', async (_, api, payload, facts) => {
    const { live, stored, told } = await recorded(api, payload)
    for (const results of [live.results, stored.results, told[0]?.results]) {
      expect(results).toMatchObject({ kind: 'image', trustTier: 'third-party', ...facts })
      expect(await bytesOf(results)).toEqual(BYTES)
    }
  })

  it.each<[string, WireApi, object, string, number]>([
    [
      'a chart and a log of OpenAI',
      'openai-responses',
      interpreted({ type: 'logs', logs: 'done' }, chart),
      'done',
      1,
    ],
    ['a chart and output of Gemini', 'gemini', gemini(code, printed, picture), 'done', 1],
    ['a chart before the output of Gemini', 'gemini', gemini(code, picture, printed), 'done', 0],
    ['a page of Anthropic', 'anthropic-messages', fetched, 'https://a.b', 1],
  ])(
    'has text as an artifact and media with their places: %s',
    async (_, api, payload, text, at) => {
      const { live, stored, told } = await recorded(api, payload)
      for (const call of [live, stored]) {
        expect(await (call.results as SpooledArtifact).asString()).toBe(text)
        expect(call.media).toMatchObject([{ place: at, media: { trustTier: 'third-party' } }])
        expect(await bytesOf(call.media?.[0]?.media)).toEqual(BYTES)
      }
      expect(told[0]?.media).toEqual(live.media)
    },
  )

  it('names media of which the provider sent no bytes', async () => {
    const url = 'https://files.example/1'
    const { live } = await recorded('openai-responses', interpreted({ type: 'image', url }))
    expect(SpooledArtifact.isSpooledArtifact(live.results)).toBe(true)
    expect(await (live.results as SpooledArtifact).asString()).toBe(`[image ${url}]`)
  })

  it('keeps text that is not base64 out of media', async () => {
    const { live } = await recorded('openai-responses', [{ ...drawn, result: '%%%' }])
    expect(await (live.results as SpooledArtifact).asString()).toBe('[image]')
  })
})
