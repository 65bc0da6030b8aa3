import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { WireApi } from '../../src/model/wire/wire-adapter.ts'
import {
  type LoopbackProvider,
  loopbackProvider,
} from '../../src/testing/loopback/loopback-provider.ts'
import { wire } from '../../src/wire/index.ts'
import { cli } from './in-process.ts'
import { buildPackage, INCIDENT } from './incident-agent.ts'

const cwd = mkdtempSync(join(tmpdir(), 'bobbin-models-'))
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

beforeAll(buildPackage, 60_000)

let server: LoopbackProvider | undefined
afterEach(() => server?.close())

const call = { name: 'check_health', args: '{"service":"checkout"}' }

/** A call and then an answer, as each provider streams them. */
const EVENTS: Readonly<Record<string, readonly [readonly unknown[], readonly unknown[]]>> = {
  'openai-chat': [
    [
      chatChunk({
        tool_calls: [
          {
            index: 0,
            id: 'c1',
            type: 'function',
            function: { name: call.name, arguments: call.args },
          },
        ],
      }),
      chatChunk({}, 'tool_calls'),
    ],
    [chatChunk({ content: 'It is failing.' }), chatChunk({}, 'stop')],
  ],
  'openai-responses': [
    [
      responsesEnd([
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'c1',
          name: call.name,
          arguments: call.args,
          status: 'completed',
        },
      ]),
    ],
    [
      responsesEnd([
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'It is failing.', annotations: [] }],
        },
      ]),
    ],
  ],
  'anthropic-messages': [
    claudeStream({ type: 'tool_use', id: 't1', name: call.name, input: {} }, 'tool_use', {
      type: 'input_json_delta',
      partial_json: call.args,
    }),
    claudeStream({ type: 'text', text: '' }, 'end_turn', {
      type: 'text_delta',
      text: 'It is failing.',
    }),
  ],
  gemini: [
    [geminiChunk({ functionCall: { name: call.name, args: JSON.parse(call.args) as object } })],
    [geminiChunk({ text: 'It is failing.' })],
  ],
  'gemini-interactions': [
    interaction(
      'requires_action',
      { type: 'function_call', id: 'c1', name: call.name },
      {
        type: 'arguments_delta',
        arguments: call.args,
      },
    ),
    interaction('completed', { type: 'model_output' }, { type: 'text', text: 'It is failing.' }),
  ],
  'bedrock-converse': [
    converseStream(
      'tool_use',
      { toolUse: { input: call.args } },
      { toolUse: { toolUseId: 't1', name: call.name } },
    ),
    converseStream('end_turn', { text: 'It is failing.' }),
  ],
}

function interaction(status: string, step: object, delta: object): readonly unknown[] {
  return [
    { event_type: 'interaction.created', interaction: { id: 'v1', status: 'in_progress' } },
    { event_type: 'step.start', index: 0, step },
    { event_type: 'step.delta', index: 0, delta },
    { event_type: 'step.stop', index: 0 },
    { event_type: 'interaction.completed', interaction: { id: 'v1', status } },
  ]
}

function converseStream(stopReason: string, delta: object, start?: object): readonly unknown[] {
  const at = { contentBlockIndex: 0 }
  return [
    { messageStart: { role: 'assistant' } },
    ...(start === undefined ? [] : [{ contentBlockStart: { start, ...at } }]),
    { contentBlockDelta: { delta, ...at } },
    { contentBlockStop: at },
    { messageStop: { stopReason } },
  ]
}

function chatChunk(delta: object, finish: string | null = null) {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices }
}

function responsesEnd(output: readonly object[]) {
  const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output }
  return { type: 'response.completed', sequence_number: 1, response }
}

function claudeStream(block: object, stop: string, delta: object): readonly unknown[] {
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [] }
  const usage = { input_tokens: 1, output_tokens: 1 }
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop }, usage },
    { type: 'message_stop' },
  ]
}

function geminiChunk(part: object) {
  const content = { role: 'model', parts: [part] }
  return { candidates: [{ content, finishReason: 'STOP', index: 0 }] }
}

const PROVIDERS = [
  ['openai', 'openai-responses', 'OPENAI_API_KEY'],
  ['openai-chat', 'openai-chat', 'OPENAI_API_KEY'],
  ['anthropic', 'anthropic-messages', 'ANTHROPIC_API_KEY'],
  ['gemini', 'gemini', 'GEMINI_API_KEY'],
  ['gemini-interactions', 'gemini-interactions', 'GEMINI_API_KEY'],
  ['foundry', 'foundry', 'AZURE_OPENAI_API_KEY'],
  ['bedrock', 'bedrock-converse', 'AWS_BEARER_TOKEN_BEDROCK'],
] as const satisfies readonly (readonly [string, WireApi, string])[]

async function ask(provider: string | undefined, api: WireApi, key: string, status?: number) {
  const exchanges =
    status === undefined
      ? (EVENTS[api === 'foundry' ? 'openai-responses' : api] ?? []).map((events) => ({ events }))
      : [{ status }]
  server = await loopbackProvider({ api, exchanges, validate: wire(api).validate })
  const model = provider === undefined ? [] : ['--model', `${provider}:m`]
  const args = ['run', 'Is it up?', ...INCIDENT, ...model, '--base-url', server.url]
  return cli(args, { cwd, env: { [key]: 'k' } })
}

describe('bobbin run with a model', () => {
  it.each(PROVIDERS)('%s makes the call and gives the answer', async (provider, api, key) => {
    const { stdout, stderr, code } = await ask(provider, api, key)
    expect(stdout).toContain('check_health service=checkout')
    expect(stdout).toContain('It is failing.')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(server?.requests).toHaveLength(2)
  })

  it.each([
    ['OPENAI_API_KEY', 'openai-responses'],
    ['ANTHROPIC_API_KEY', 'anthropic-messages'],
    ['GEMINI_API_KEY', 'gemini'],
  ] as const)('asks the provider that %s is a key of, when told no model', async (key, api) => {
    const { stdout, code } = await ask(undefined, api, key)
    expect(stdout).toContain('It is failing.')
    expect(code).toBe(0)
    expect(server?.requests).toHaveLength(2)
  })

  it.each(PROVIDERS)('%s reports a refused key', async (provider, api, key) => {
    const { stdout, code } = await ask(provider, api, key, 401)
    expect(stdout).toMatch(
      /^MODEL_FAILED: `[\w-]+` answered \(401\): .+\. Check the provider’s key in your environment, .+--offline\.$/m,
    )
    expect(code).toBe(1)
    expect(server?.requests).toHaveLength(1)
  })

  it('reports a server that does not answer, for every provider', async () => {
    const { url, close } = await loopbackProvider({ api: 'openai-chat', exchanges: [] })
    await close()
    // At once, because each of them waits before it tries again.
    const ends = PROVIDERS.map(async ([provider, , key]) => {
      const args = ['run', 'Is it up?', '--quiet', ...INCIDENT]
      const model = ['--model', `${provider}:m`, '--base-url', url]
      return cli([...args, ...model, '--store', `${provider}.db`], { cwd, env: { [key]: 'k' } })
    })
    for (const { stdout, stderr, code } of await Promise.all(ends)) {
      expect(stderr).toMatch(
        /^bobbin: MODEL_FAILED: `[\w-]+` did not answer: .+\. Check the network and the address in --base-url, .+\.\n$/,
      )
      expect({ stdout, code }).toEqual({ stdout: '', code: 1 })
    }
  })

  it('leaves a store that verifies, whatever failed', async () => {
    expect((await cli(['verify'], { cwd })).code).toBe(0)
  })
})
