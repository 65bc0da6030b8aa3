import Anthropic from '@anthropic-ai/sdk'
import { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import {
  assemble,
  brokenStream,
  clientFailure,
  defineProvider,
  encodeGroups,
  HistoryBuilder,
  providerFailure,
  wireModel,
} from '../../src/provider/index.ts'
import { anthropicMessages } from '../../src/providers/anthropic/index.ts'
import { bedrockConverse } from '../../src/providers/bedrock/index.ts'
import { foundry } from '../../src/providers/foundry/index.ts'
import { gemini, geminiInteractions } from '../../src/providers/gemini/index.ts'
import { openaiChat, openaiResponses } from '../../src/providers/openai/index.ts'
import { memoryStore } from '../../src/store/memory/memory-store.ts'
import {
  eventRecorder,
  loopbackProvider,
  modelConformance,
  scriptedModel,
  spoolConformance,
  storeConformance,
  toolTape,
} from '../../src/testing/index.ts'

import {
  approvalsOf,
  feedResponse,
  uiMessageResponse,
  uiMessages,
  uiReconnectResponse,
  userMessageOf,
} from '../../src/ui/index.ts'
import { requestOf, seed, type WireApi, wire } from '../../src/wire/index.ts'

import { providers } from '../../src/wire/providers.ts'
import { MCP } from './mcp.ts'
import { OTEL } from './otel.ts'
import { RESTATE } from './restate.ts'
import { EVERY_KIND, type WayIn, way } from './values.ts'

const call = { type: 'call', id: 'a', tool: 'a', args: {}, wire: {}, executedBy: 'runner' } as const
const message = { type: 'message', role: 'user', parts: [] } as const

/** The members of items that every encoder reads, each with an item that lacks nothing. */
const MEMBERS: readonly (readonly [string, object, ...(WayIn['takes'] & object)])[] = [
  ['type', message],
  ['role', message],
  ['parts', message, 'list'],
  ['text', { type: 'thought', text: '' }, 'text', 'empty text'],
  ['id', call, 'text', 'empty text'],
  ['tool', call, 'text', 'empty text'],
  ['args', call, 'object', 'date', 'map'],
  ['wire', call, 'object', 'date', 'map'],
  ['executedBy', call],
  ['result', call, 'undefined'],
  ['wire', { ...call, type: 'openCall', executedBy: 'provider' }, 'object', 'date', 'map'],
  ['api', { type: 'raw', api: '', value: 1 }, 'text', 'empty text'],
]

/** The input of a request is a text in all protocols but one. */
const textOf = (api: WireApi) => (api === 'openai-chat' ? [] : (['text', 'empty text'] as const))

const oneWire = (api: WireApi): readonly WayIn[] => {
  const { decode, decodeStream, encode } = wire(api)
  const ofMembers = MEMBERS.map(([name, item, ...takes]) => {
    const { type } = item as { readonly type: string }
    const given = (value: unknown) => encode([{ ...item, [name]: value } as never])
    return way(`${api}.encode([{ type: '${type}', ${name} }])`, given, ...takes)
  })
  return [
    way(`${api}.decodeStream`, decodeStream, 'list', 'map'),
    way(`${api}.encode`, encode, 'list', 'map'),
    way(`${api}.encode([value])`, (value) => encode([value])),
    way(`${api}.encode([], options)`, (options) => encode([], options), ...OPTIONS),
    way(`${api}.encode, parts of a message`, (part) => encode([{ ...message, parts: [part] }])),
    way(`${api}.encode, parts of a result`, (part) =>
      encode([{ ...call, result: { isError: false, parts: [part] } } as never]),
    ),
    way(`${api}.decode`, (value) => decode(value), 'list', 'list of null', ...textOf(api)),
    ...ofMembers,
  ]
}

/** Options are an object or left out; dates and maps are objects without any that is known. */
const OPTIONS = ['undefined', 'object', 'date', 'map'] as const

async function* noEvents(): AsyncGenerator<never> {}

const openai = new OpenAI({ apiKey: 'k' })
const api: WireApi = 'openai-chat'
const loopback = (options: object) => loopbackProvider({ api, exchanges: [], ...options })

/** A model is made of a client and a name. */
const modelWays = (make: (options: never) => unknown, client: object): readonly WayIn[] => [
  way(make.name, make),
  way(`${make.name}({ client })`, (given) => make({ client: given, model: 'm' } as never)),
  way(`${make.name}({ model })`, (model) => make({ client, model } as never), 'text'),
]

const [definition] = providers
const send = () => Promise.reject(new Error('nothing is sent'))

const context = { mint: () => 'id' }
const groups = { api: 'a', ids: { refused: /x/g, maxLength: 64 }, encodeGroup: () => [] }
const TEXTS = ['text', 'empty text'] as const

/** The members of a definition that are checked. */
const DEFINITION: readonly (readonly [string, ...(WayIn['takes'] & object)])[] = [
  ['api', 'text'],
  ['provider', 'text'],
  ['version', 'text', 'number'],
  ...['detect', 'decode', 'decodeStream', 'encode', 'requestBody', 'errors'].map(
    (name) => [name, 'function'] as const,
  ),
  ['validate', 'function', 'undefined'],
  ['continuedBody', 'function', 'undefined'],
  ['framing', 'undefined'],
  ['history', 'undefined'],
  ['loopback', 'undefined'],
  ['fixtures', 'undefined', 'list', 'list of null'],
]

const HELLO = { messages: [{ role: 'user', content: 'Hello.' }] }

/** Every way into the entry points beside the root, by what they export. */
export const LEAVES: Readonly<Record<string, readonly WayIn[]>> = {
  requestOf: [
    way('requestOf', (store) => requestOf(store, { conversation: 'c', modelCall: 'm' })),
    way('requestOf(store, query)', (query) => requestOf(memoryStore(), query)),
    way('requestOf(store, { conversation })', (conversation) =>
      requestOf(memoryStore(), { conversation, modelCall: 'm' }),
    ),
    way('requestOf(store, { key })', (key) =>
      requestOf(memoryStore(), { conversation: 'c', modelCall: 'm', key }),
    ),
    way('requestOf(store, { providers })', (given) =>
      requestOf(memoryStore(), { conversation: 'c', modelCall: 'm', providers: given }),
    ),
  ],
  seed: [
    way('seed', (store) => seed(store, { api, payload: HELLO })),
    way('seed(store, input)', (input) => seed(memoryStore(), input)),
    way('seed(store, { api })', (name) => seed(memoryStore(), { api: name, payload: HELLO })),
    way(
      'seed(store, { trust })',
      (trust) => seed(memoryStore(), { api, payload: HELLO, trust }),
      'undefined',
    ),
    way(
      'seed(store, { providers })',
      (given) => seed(memoryStore(), { api, payload: HELLO, providers: given }),
      'undefined',
      'list',
    ),
  ],
  wire: [
    way('wire', wire),
    way('wire(api, options)', (options) => wire(api, options), ...OPTIONS),
    way('wire(api, { secret })', (secret) => wire(api, { secret }), 'undefined'),
    ...providers.map(({ api: name }) => name).flatMap(oneWire),
  ],
  defineProvider: [
    way('defineProvider', defineProvider),
    ...DEFINITION.map(([name, ...takes]) =>
      way(
        `defineProvider({ ${name} })`,
        (value) => defineProvider({ ...definition, [name]: value }),
        ...takes,
      ),
    ),
  ],
  HistoryBuilder: [
    way('new HistoryBuilder(api)', (value) => new HistoryBuilder(value, 'p', context), ...TEXTS),
    way(
      'new HistoryBuilder(api, provider)',
      (value) => new HistoryBuilder('a', value, context),
      ...TEXTS,
    ),
    way(
      'new HistoryBuilder(api, provider, context)',
      (value) => new HistoryBuilder('a', 'p', value),
    ),
  ],
  assemble: [
    way('assemble', (items) => assemble(items, { reason: 'stop' }), 'list', 'list of null'),
    way('assemble(items, ending)', (ending) => assemble([], ending)),
  ],
  brokenStream: [
    way('brokenStream', (reason) => brokenStream(reason, 'it ends')),
    way('brokenStream(reason, what)', (what) => brokenStream('cut', what), ...TEXTS),
  ],
  clientFailure: [
    way('clientFailure', (name) => clientFailure(name, new Error('x')), 'text'),
    way('clientFailure(api, error)', (error) => clientFailure('a', error), ...EVERY_KIND),
  ],
  encodeGroups: [
    way('encodeGroups', (items) => encodeGroups(items, groups), 'list'),
    way('encodeGroups(items, options)', (options) => encodeGroups([], options)),
  ],
  providerFailure: [
    way('providerFailure', (code) => providerFailure(code, { api: 'a', message: 'm' })),
    way('providerFailure(code, facts)', (facts) => providerFailure('E_PROVIDER_AUTH', facts)),
  ],
  wireModel: [
    way('wireModel', (value) => wireModel(value, { model: 'm', send })),
    way('wireModel(definition, options)', (options) => wireModel(definition, options)),
    way(
      'wireModel(definition, { model })',
      (model) => wireModel(definition, { model, send }),
      'text',
    ),
    way(
      'wireModel(definition, { send })',
      (value) => wireModel(definition, { model: 'm', send: value }),
      'function',
    ),
  ],
  openaiResponses: modelWays(openaiResponses, openai),
  openaiChat: [
    ...modelWays(openaiChat, openai),
    way(
      'openaiChat({ server })',
      (server) => openaiChat({ client: openai, model: 'm', server }),
      'undefined',
    ),
  ],
  foundry: modelWays(foundry, openai),
  anthropicMessages: modelWays(anthropicMessages, new Anthropic({ apiKey: 'k' })),
  bedrockConverse: modelWays(bedrockConverse, new BedrockRuntimeClient({ region: 'us-east-1' })),
  gemini: modelWays(gemini, new GoogleGenAI({ apiKey: 'k' })),
  geminiInteractions: modelWays(geminiInteractions, new GoogleGenAI({ apiKey: 'k' })),
  eventRecorder: [way('eventRecorder', eventRecorder)],
  loopbackProvider: [
    way('loopbackProvider', loopbackProvider),
    way('loopbackProvider({ api })', (value) => loopback({ api: value })),
    way('loopbackProvider({ exchanges })', (exchanges) => loopback({ exchanges }), 'list'),
    way(
      'loopbackProvider({ exchanges: [value] })',
      (value) => loopback({ exchanges: [value] }),
      ...(['object', 'list', 'list of null', 'function', 'date', 'map'] as const),
    ),
    way('loopbackProvider({ record })', (record) => loopbackProvider({ api, record })),
    way(
      'loopbackProvider({ record: { directory } })',
      (directory) =>
        loopbackProvider({ api, record: { upstream: 'http://127.0.0.1:1', directory } }),
      ...(['undefined', 'text'] as const),
    ),
    way(
      'loopbackProvider({ validate })',
      (validate) => loopback({ validate }),
      ...(['undefined', 'function'] as const),
    ),
  ],
  modelConformance: [
    way('modelConformance', (value) => modelConformance(value)),
    way(
      'modelConformance(definition, options)',
      (options) => modelConformance(definition, options),
      ...OPTIONS,
    ),
    way(
      'modelConformance(definition, { fixtures })',
      (fixtures) => modelConformance(definition, { fixtures }),
      'undefined',
      'list',
      'list of null',
    ),
    way(
      'modelConformance(definition, { others })',
      (others) => modelConformance(definition, { others }),
      'undefined',
      'list',
    ),
    way(
      'modelConformance(definition, { cuts })',
      (cuts) => modelConformance(definition, { cuts }),
      'undefined',
      'number',
    ),
  ],
  scriptedModel: [
    way('scriptedModel', scriptedModel, 'list'),
    way(
      'scriptedModel([value])',
      (step) => scriptedModel([step]),
      ...(['object', 'list', 'date', 'map'] as const),
    ),
    way('scriptedModel([[value]])', (part) => scriptedModel([[part]])),
  ],
  spoolConformance: [way('spoolConformance', spoolConformance, 'function')],
  storeConformance: [way('storeConformance', storeConformance, 'function')],
  ...MCP,
  ...OTEL,
  ...RESTATE,
  uiMessageResponse: [
    way('uiMessageResponse', (feed) => uiMessageResponse(feed)),
    way(
      'uiMessageResponse(feed, options)',
      (options) => uiMessageResponse(noEvents(), options),
      ...OPTIONS,
    ),
    way(
      'uiMessageResponse(feed, { heartbeatMs })',
      (heartbeatMs) => uiMessageResponse(noEvents(), { heartbeatMs }),
      ...(['undefined', 'number'] as const),
    ),
    way(
      'uiMessageResponse(feed, { ai })',
      (ai) => uiMessageResponse(noEvents(), { ai }),
      ...(['undefined', 'number'] as const),
    ),
  ],
  feedResponse: [
    way('feedResponse', (feed) => feedResponse(feed)),
    way('feedResponse(feed, options)', (options) => feedResponse(noEvents(), options), ...OPTIONS),
  ],
  approvalsOf: [
    way('approvalsOf', (body) => approvalsOf(body, { gates: [], decidedBy: 'b' }), ...EVERY_KIND),
    way('approvalsOf(body, options)', (options) => approvalsOf({}, options)),
    way(
      'approvalsOf(body, { gates })',
      (gates) => approvalsOf({}, { gates, decidedBy: 'bob' }),
      ...(['list', 'map'] as const),
    ),
    way(
      'approvalsOf(body, { decidedBy })',
      (decidedBy) => approvalsOf({}, { gates: [], decidedBy }),
      'text',
    ),
  ],
  uiMessages: [
    way('uiMessages', (store) => uiMessages(store, { conversation: 'c' })),
    way('uiMessages(store, input)', (input) => uiMessages(memoryStore(), input)),
    way(
      'uiMessages(store, { conversation })',
      (conversation) => uiMessages(memoryStore(), { conversation }),
      'text',
    ),
  ],
  uiReconnectResponse: [
    way('uiReconnectResponse', (store) => uiReconnectResponse(store, { conversation: 'c' })),
    way('uiReconnectResponse(store, input)', (input) => uiReconnectResponse(memoryStore(), input)),
    way(
      'uiReconnectResponse(store, { conversation })',
      (conversation) => uiReconnectResponse(memoryStore(), { conversation }),
      'text',
    ),
  ],
  userMessageOf: [
    // Bodies come from clients: what is no message of a user is none.
    way('userMessageOf', userMessageOf, ...EVERY_KIND),
  ],
  toolTape: [
    way('toolTape', toolTape, ...OPTIONS),
    way('toolTape({ calls })', (calls) => toolTape({ calls }), 'undefined', 'list'),
    way('toolTape({ calls: [value] })', (value) => toolTape({ calls: [value] })),
    way('toolTape({ artifacts })', (artifacts) => toolTape({ artifacts }), 'undefined', 'list'),
  ],
}
