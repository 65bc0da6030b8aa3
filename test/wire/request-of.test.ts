import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import { loopbackProvider } from '../../src/testing/index.ts'
import { TurnRunner } from '../../src/turn/turn-runner.ts'
import { requestOf, wire } from '../../src/wire/index.ts'
import { sampleTool } from '../turn-samples.ts'
import { samplesOf, WAYS } from './provider-samples.ts'

const conversation = 'c'
/** These clients send the body as they are given it; the others write it anew. */
const PASSED_ON = ['openai-responses', 'openai-chat', 'anthropic-messages', 'foundry']

describe.each(WAYS)('requestOf over %s', (way) => {
  const { api, open, script } = samplesOf(way)
  const call = { id: 'call_1', tool: 'look', args: '{"q":"a"}' }
  const asked = { events: script.calls([call]), body: script.unstreamed.call(call) }
  const answer = { events: script.answer('fine'), body: script.unstreamed.answer('fine') }
  const busy = { status: 503, body: { error: { message: 'busy' } } }

  it.each([true, false])('proves what the server got (streaming: %s)', async (streaming) => {
    const exchanges = [asked, busy, answer, answer, answer]
    const server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
    onTestFinished(() => server.close())
    const store = memoryStore()
    const look = sampleTool('look', () => 'a line\n'.repeat(100), { inline: false })
    const options = { store, tools: [look], testing: { sleep: async () => {} } }
    const runner = () => new TurnRunner({ ...options, model: open(server.url, { streaming }) })
    const instructions = 'Look first.'
    await new TurnRunner({ ...options, instructions, model: open(server.url, { streaming }) }).run({
      conversation,
      message: 'look',
    })
    await runner().run({ conversation, message: 'and?' })
    await runner().regenerate({ conversation, message: 'or?' })
    const rebuilt: object[] = []
    const broken: string[] = []
    for await (const { kind, data } of store.entries(conversation)) {
      if (kind !== 'model-call') continue
      const { id: modelCall } = data
      const request = await requestOf(store, { conversation, modelCall })
      expect(request).toMatchObject({ proven: true, missing: [] })
      rebuilt.push(request.body ?? {})
      broken.push(...(data.prefix?.broken?.causes ?? []))
    }
    expect(rebuilt).toHaveLength(5)
    expect(broken).toContain('rewind')
    if (!PASSED_ON.includes(api)) return
    expect(JSON.parse(JSON.stringify(rebuilt))).toEqual(server.requests.map(({ body }) => body))
  })
})
