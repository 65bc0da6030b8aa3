import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inRoot } from '../../scripts/project.mjs'
import { runNpm } from '../../scripts/run-command.mjs'
import type { Finish } from '../../src/model/events/model-event.ts'
import type { Model } from '../../src/model/model.ts'
import { foundry } from '../../src/providers/foundry/index.ts'
import { openaiChat, openaiResponses } from '../../src/providers/openai/index.ts'
import type { HistoryItem } from '../../src/records/history-item.ts'
import { loopbackProvider } from '../../src/testing/loopback/loopback-provider.ts'
import { wire } from '../../src/wire/index.ts'
import { installPackage } from '../consumer/installed-package.ts'
import { typeCheck } from '../consumer/type-check.ts'

// The other SDKs' newest lines run on our oldest Node, so the unit tests use them already.
const NEWEST = '7.53.0'
const folder = inRoot('.cache', `openai-${NEWEST}`)
const installed = join(folder, 'node_modules', 'openai')

let Client: typeof OpenAI

beforeAll(async () => {
  if (!existsSync(installed)) {
    const quietly = [
      '--no-save',
      '--no-package-lock',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
    ]
    const what = ['--prefix', folder, `openai@${NEWEST}`]
    const { code, output } = await runNpm(['install', '--prefer-offline', ...quietly, ...what])
    if (code !== 0) throw new Error(`openai ${NEWEST} could not be installed:\n${output}`)
  }
  const load = createRequire(join(folder, 'from-here.cjs'))
  Client = (load('openai') as { OpenAI: typeof OpenAI }).OpenAI
}, 120_000)

const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: '{}',
  status: 'completed',
}
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Four.', annotations: [] }],
}
const responses = (item: object) => ({
  body: { id: 'r', status: 'completed', output: [item] },
  events: [
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item] } },
  ],
})
const chat = (reason: string, said: object, pieces: readonly object[]) => ({
  body: { id: 'c', choices: [{ index: 0, finish_reason: reason, message: said }] },
  events: [
    ...pieces.map((delta) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })),
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: reason }] },
  ],
})
const toolCall = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }

const conversations = [
  ['openai-responses', openaiResponses, [responses(call), responses(message)]],
  ['foundry', foundry, [responses(call), responses(message)]],
  [
    'openai-chat',
    openaiChat,
    [
      chat('tool_calls', { role: 'assistant', content: null, tool_calls: [toolCall] }, [
        { role: 'assistant', tool_calls: [{ index: 0, ...toolCall }] },
      ]),
      chat('stop', { role: 'assistant', content: 'Four.' }, [{ content: 'Four.' }]),
    ],
  ],
] as const

const question: HistoryItem = {
  type: 'message',
  role: 'user',
  parts: [{ type: 'text', text: 'T?' }],
}

async function finishOf(model: Model, items: readonly HistoryItem[]): Promise<Finish | undefined> {
  let finish: Finish | undefined
  for await (const event of model.stream({ items })) if (event.type === 'finish') finish = event
  return finish
}

describe(`openai ${NEWEST}`, () => {
  describe.each([true, false])('streaming: %s', (streaming) => {
    it.each(conversations)(
      'holds a conversation with tools on %s',
      async (api, connect, exchanges) => {
        const { validate } = wire(api)
        const server = await loopbackProvider({ api, exchanges, validate })
        try {
          const client = new Client({ apiKey: 'k', baseURL: server.url, maxRetries: 0 })
          const model = connect({ client, model: 'm', streaming })
          const first = await finishOf(model, [question])
          expect(first).toMatchObject({
            reason: 'tools',
            items: [{ id: 'call_1', tool: 'weather' }],
          })
          const second = await finishOf(model, [question, ...(first?.items ?? [])])
          expect(second).toMatchObject({ reason: 'stop', items: [{ parts: [{ text: 'Four.' }] }] })
        } finally {
          await server.close()
        }
      },
    )
  })

  describe('types', () => {
    let consumer: Awaited<ReturnType<typeof installPackage>>

    beforeAll(async () => {
      consumer = await installPackage()
      const link = join(consumer.folder, 'node_modules', 'openai')
      rmSync(link, { force: true })
      symlinkSync(installed, link, 'dir')
    }, 120_000)

    afterAll(() => consumer?.remove())

    it.each(['NodeNext', 'Bundler'] as const)('fit ours with %s resolution', async (resolution) => {
      const program = `
        import OpenAI from 'openai'
        import { openaiResponses } from 'bobbin-adk/openai'
        import { foundry } from 'bobbin-adk/foundry'
        const client = new OpenAI({ apiKey: 'k' })
        openaiResponses({ client, model: 'm', hostedTools: [{ type: 'web_search' }] })
        foundry({ client, model: 'm', params: { temperature: 0 } })
      `
      const { fits } = await typeCheck(consumer.folder, resolution, { fits: program })
      expect(fits).toBe('')
    })
  })
})
