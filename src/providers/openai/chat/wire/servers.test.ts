import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { finishOf } from '../../../../../test/wire/connect-model.ts'
import { loadFixtures } from '../../../../../test/wire/fixture.ts'
import type { HistoryItem } from '../../../../records/history-item.ts'
import { type LoopbackProvider, loopbackProvider } from '../../../../testing/index.ts'
import { wire } from '../../../../wire/index.ts'
import { type ChatOptions, openaiChat } from '../model.ts'
import {
  CHAT_SERVERS,
  type ChatServer,
  type ChatServerName,
  quirksFor,
  serverAt,
} from './servers.ts'

const running: LoopbackProvider[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

const NAMES = Object.keys(CHAT_SERVERS) as ChatServerName[]
const TOOLS = ['weather', 'tides'].map((name) => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
}))
const answer = { choices: [{ index: 0, delta: { content: 'Hm' }, finish_reason: 'stop' }] }

async function start(exchange: object = { events: [answer] }) {
  const server = await loopbackProvider({
    api: 'openai-chat',
    exchanges: [exchange],
    validate: wire('openai-chat').validate,
  })
  running.push(server)
  const client = new OpenAI({ apiKey: 'key', baseURL: server.url, maxRetries: 0 })
  return { server, client }
}

/** What a request to such a server says. */
async function sentTo(
  name: ChatServerName | undefined,
  items: readonly HistoryItem[],
  more: object = {},
  options: Partial<ChatOptions> = {},
) {
  const { server, client } = await start()
  const model = openaiChat({ client, model: 'm', ...(name && { server: name }), ...options })
  await finishOf(model, { items, tools: TOOLS, ...more })
  return server.requests[0]?.body as Record<string, unknown> & {
    messages: Record<string, unknown>[]
  }
}

const fixtures = loadFixtures().map(([, fixture]) => fixture)
const historyOf = (name: ChatServerName) => {
  const file = new URL(`../fixtures/server-${name}-history.json`, import.meta.url)
  const { payload } = JSON.parse(readFileSync(file, 'utf8')) as { payload: object[] }
  return { payload, items: wire('openai-chat').decode(payload).items }
}
/** A history of another protocol, with an id that Chat Completions takes. */
const foreign = wire('anthropic-messages').decode([
  { role: 'user', content: 'Weather?' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'snow' }] },
]).items

describe('the table of compatible servers', () => {
  it.each(NAMES)('has evidence and fixtures for %s', (name) => {
    const { evidence }: ChatServer = CHAT_SERVERS[name]
    expect(evidence.length).toBeGreaterThan(0)
    expect(evidence.every((url) => URL.canParse(url))).toBe(true)
    const kinds = ['response', 'stream', 'history'].map((kind) => `server-${name}-${kind}.json`)
    const files = loadFixtures().map(([path]) => path.split(/[\\/]/).at(-1))
    expect(kinds.filter((file) => !files.includes(file))).toEqual([])
  })

  it.each(NAMES)('gives %s its own history back as it wants it', async (name) => {
    const { payload, items } = historyOf(name)
    const { messages } = await sentTo(name, items)
    const { echoes, emptyContent = null } = CHAT_SERVERS[name].quirks as ChatServer['quirks']
    const expected = payload.map((message) => {
      const given = { ...message } as Record<string, unknown>
      for (const member of ['reasoning', 'reasoning_content', 'reasoning_details']) {
        if (echoes !== undefined && !echoes.includes(member)) delete given[member]
      }
      if (given['tool_calls'] && !given['content']) given['content'] = emptyContent
      return given
    })
    expect(messages).toEqual(expected)
  })

  it('is what the page shows', () => {
    const page = readFileSync('docs/compatible-servers.md', 'utf8')
    for (const name of NAMES) expect(page).toContain(rowOf(name))
    expect(page.match(/^\| `\w+` \|/gm)).toHaveLength(NAMES.length)
  })
})

describe('serverAt', () => {
  it.each([
    ['https://api.mistral.ai/v1', 'mistral'],
    ['https://api.deepseek.com', 'deepseek'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://api.x.ai/v1', 'xai'],
    ['https://api.together.xyz/v1', 'together'],
    ['https://api.together.ai/v1', 'together'],
    ['https://api.fireworks.ai/inference/v1', 'fireworks'],
    ['https://openrouter.ai/api/v1', 'openrouter'],
    ['https://api.cerebras.ai/v1', 'cerebras'],
    ['https://acme-1.snowflakecomputing.com/api/v2/cortex/v1', 'snowflake'],
    ['http://localhost:11434/v1', 'ollama'],
    ['https://ollama.com/v1', 'ollama'],
    ['http://127.0.0.1:1234/v1', 'lmstudio'],
    ['http://localhost:8000/v1', undefined],
    ['https://api.openai.com/v1', undefined],
    ['https://notmistral.ai/v1', undefined],
    ['https://mistral.ai.example.com/v1', undefined],
    ['https://example.com/mistral.ai', undefined],
    ['not a url', undefined],
    [undefined, undefined],
  ])('reads %s as %s', (url, name) => {
    expect(serverAt(url)).toBe(name)
  })
})

describe('openaiChat', () => {
  it('refuses a server that it does not know, and names those that it does', () => {
    const client = new OpenAI({ apiKey: 'key' })
    const make = () => openaiChat({ client, model: 'm', server: 'mistrall' as never })
    expect(make).toThrow(/must be one of `mistral`, .*`llamacpp`, not `mistrall`/)
    expect(make).toThrow(expect.objectContaining({ code: 'E_INVALID_MODEL' }))
  })

  it('fits ids to Mistral: 9 letters and digits', async () => {
    const { messages } = await sentTo('mistral', foreign)
    const ids = JSON.stringify(messages).match(/"(?:id|tool_call_id)":"[^"]*"/g)
    expect(ids?.map((id) => /:"[a-zA-Z0-9]{9}"$/.test(id))).toEqual([true, true])
  })

  it.each([
    ['quirks', 5],
    ['quirks.echos', { echos: [] }],
    ['quirks.exactIdLength', { exactIdLength: 3 }],
    ['quirks.exactIdLength', { exactIdLength: '9' }],
  ])('refuses wrong `%s`: %j', (path, quirks) => {
    const client = new OpenAI({ apiKey: 'key' })
    expect(() => openaiChat({ client, model: 'm', quirks: quirks as never })).toThrow(
      expect.objectContaining({
        code: 'E_INVALID_MODEL',
        data: expect.objectContaining({ path }),
      }),
    )
  })

  it('takes a rule that is undefined as one that is left out', () => {
    const own = { emptyContent: undefined } as never
    expect(quirksFor('xai', own)).toEqual(quirksFor('xai'))
  })

  it('sends an unknown server what every server takes', async () => {
    const body = await sentTo(undefined, foreign, { toolChoice: { tool: 'weather' } })
    expect(body).toMatchObject({
      messages: [{}, { content: null, tool_calls: [{ id: 'toolu_1' }] }, {}],
      stream_options: { include_usage: true },
      tool_choice: { type: 'function', function: { name: 'weather' } },
    })
  })

  it.each(['mistral', 'fireworks'] as const)('does not ask %s for token counts', async (name) => {
    expect(await sentTo(name, foreign)).not.toHaveProperty('stream_options')
  })

  it('gives xAI an empty text where a message only calls', async () => {
    expect((await sentTo('xai', foreign)).messages[1]).toMatchObject({ content: '' })
  })

  it('offers LM Studio the named tool alone, and requires it', async () => {
    const body = await sentTo('lmstudio', foreign, { toolChoice: { tool: 'tides' } })
    expect(body).toMatchObject({
      tool_choice: 'required',
      tools: [{ function: { name: 'tides' } }],
    })
    expect(body['tools']).toHaveLength(1)
  })

  it('gives DeepSeek the schema of the output in its instructions', async () => {
    const output = { name: 'out', schema: { type: 'object', required: ['a'] } }
    const body = await sentTo('deepseek', foreign, { output, instructions: 'Be kind.' })
    expect(body['response_format']).toEqual({ type: 'json_object' })
    expect(body.messages[0]).toMatchObject({ role: 'system' })
    expect(body.messages[0]?.['content']).toMatch(/^Be kind\.\n\n.*JSON.*"required":\["a"\]/)
  })

  it.each([
    ['mistral', { max_completion_tokens: 5 }, { max_tokens: 5 }],
    ['snowflake', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['groq', { max_tokens: 5 }, { max_tokens: 5 }],
  ] as const)('names parameters as %s does', async (name, params, expected) => {
    const body = await sentTo(name, foreign, {}, { params })
    expect(body).toMatchObject(expected)
    const names = Object.keys(body).filter((member) => member.startsWith('max_'))
    expect(names).toEqual(Object.keys(expected))
  })

  it('lets quirks of the user win', async () => {
    const quirks = { exactIdLength: 12, emptyContent: '' } as const
    const { messages } = await sentTo('mistral', foreign, {}, { quirks })
    expect(messages[1]?.['content']).toBe('')
    expect(messages[2]?.['tool_call_id']).toMatch(/^[a-zA-Z0-9]{12}$/)
  })
})

/** Errors and odd ends after status 200, as the servers send them. */
const ERRORS: readonly (readonly [ChatServerName, object, object])[] = [
  [
    'mistral',
    {
      object: 'error',
      message: { detail: [{ msg: 'Extra inputs are not permitted' }] },
      type: 'invalid_request_error',
      code: 3001,
    },
    { code: 'E_PROVIDER_BAD_REQUEST', message: expect.stringContaining('Extra inputs') },
  ],
  [
    'mistral',
    { choices: [{ index: 0, delta: {}, finish_reason: 'model_length' }] },
    { reason: 'length' },
  ],
  [
    'deepseek',
    { choices: [{ index: 0, delta: {}, finish_reason: 'insufficient_system_resource' }] },
    { reason: 'error' },
  ],
  [
    'groq',
    {
      error: {
        message: 'Failed to call a function.',
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        failed_generation: '<function',
      },
    },
    { code: 'E_PROVIDER_BAD_REQUEST' },
  ],
  [
    'xai',
    {
      code: 'Client specified an invalid argument',
      error: 'Invalid request content: Each message must have at least one content element.',
    },
    { message: expect.stringContaining('content element') },
  ],
  [
    'openrouter',
    {
      id: 'gen-1',
      error: { code: 502, message: 'Provider disconnected' },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    },
    { code: 'E_PROVIDER_UNAVAILABLE', data: { status: 502 } },
  ],
  [
    'vllm',
    {
      object: 'error',
      message: 'The engine died.',
      type: 'InternalServerError',
      param: null,
      code: 500,
    },
    { code: 'E_PROVIDER_UNAVAILABLE', message: expect.stringContaining('The engine died.') },
  ],
  [
    'vllm',
    { error: { message: 'The engine died.', type: 'InternalServerError', code: 500 } },
    { code: 'E_PROVIDER_UNAVAILABLE' },
  ],
  ['vllm', { choices: [{ index: 0, delta: {}, finish_reason: 'abort' }] }, { reason: 'error' }],
  [
    'ollama',
    { error: { message: 'model runner has stopped', type: 'api_error', param: null, code: null } },
    { message: expect.stringContaining('model runner has stopped') },
  ],
  [
    'lmstudio',
    { error: "'response_format.type' must be 'json_schema' or 'text'" },
    { message: expect.stringContaining('json_schema') },
  ],
  [
    'llamacpp',
    { error: { code: 500, message: 'Missing tool call type', type: 'server_error' } },
    { code: 'E_PROVIDER_UNAVAILABLE' },
  ],
  ['together', { choices: [{ index: 0, delta: {}, finish_reason: 'error' }] }, { reason: 'error' }],
]

describe('a stream that fails', () => {
  it.each(ERRORS)('as %s fails runs no call: %j', async (name, event, expected) => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{}' },
    }
    const begun = { choices: [{ index: 0, delta: { tool_calls: [call] } }] }
    const { client } = await start({ events: [begun, event] })
    const model = openaiChat({ client, model: 'm', server: name })
    const ended = await finishOf(model, { items: foreign, tools: TOOLS }).catch((error) => error)
    expect(ended).toMatchObject(expected)
    expect(ended.items ?? []).not.toContainEqual(expect.objectContaining({ type: 'call' }))
  })
})

describe('the fixtures of servers', () => {
  it('hold all words for the end that the table names', () => {
    const text = JSON.stringify([...fixtures, ERRORS])
    const words = NAMES.flatMap((name) => (CHAT_SERVERS[name] as ChatServer).finishWords ?? [])
    expect(words.filter((word) => !text.includes(`"${word}"`))).toEqual([])
  })
})

/** A row of the page, made from the table. */
function rowOf(name: ChatServerName): string {
  const server: ChatServer = CHAT_SERVERS[name]
  const { domains = [], port, quirks, reasoning = [], finishWords = [] } = server
  const { sends, refuses, evidence } = server
  const places = [...domains.map(code), ...(port === undefined ? [] : [`port ${port}`])]
  const place = places.join(', ') || 'by name only'
  const words = finishWords.map((word) => `\`${word}\``).join(', ')
  const does = [
    quirks.exactIdLength && `ids of ${quirks.exactIdLength} letters and digits`,
    quirks.echoes && `sends back ${listed(quirks.echoes)}`,
    quirks.emptyContent === '' && 'empty text where a message only calls',
    quirks.streamUsage === false && 'no `stream_options`',
    quirks.promptCacheKey && 'gets a `prompt_cache_key`',
    quirks.namedToolChoice === false && 'a named tool is the only one offered, and required',
    quirks.outputFormat === 'json_object' && '`json_object`, with the schema in the instructions',
    ...Object.entries(quirks.renames ?? {}).map(([from, to]) => `\`${from}\` becomes \`${to}\``),
  ].filter(Boolean)
  const told = [
    reasoning.length > 0 && `reasoning: ${reasoning.map(code).join(', ')}`,
    words && `ends with ${words}`,
    sends,
  ].filter(Boolean)
  const links = evidence.map((url, index) => `[${index + 1}](${url})`).join(' ')
  const cells = [`\`${name}\``, place, does.join('; '), told.join('; '), refuses ?? '', links]
  return `| ${cells.join(' | ')} |`
}

function listed(members: readonly string[]): string {
  const reasoning = members.filter((member) => member !== 'extra_content')
  return reasoning.length === 0 ? 'no reasoning' : reasoning.map(code).join(', ')
}

const code = (text: string) => (text.includes(' ') ? text : `\`${text}\``)
