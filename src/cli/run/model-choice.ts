import type { Model } from '../../model/model.ts'
import type { Options, Values } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'

/** The options by which every command that runs turns takes its model. */
export const MODEL_OPTIONS = {
  model: {
    type: 'string',
    short: 'm',
    value: 'PROVIDER:NAME',
    help: 'openai, openai-chat, anthropic, gemini or foundry, and the name of a model',
  },
  'base-url': { type: 'string', value: 'URL', help: 'Another server that speaks the protocol' },
  offline: { type: 'boolean', help: 'Use no model, whatever keys are set' },
} as const satisfies Options

interface Connection {
  readonly name: string
  readonly apiKey: string
  readonly baseURL: string | undefined
}

interface Provider {
  /** Where its key is looked for. */
  readonly keys: readonly string[]
  readonly defaultModel?: string
  /** The client that has to be installed. */
  readonly client: string
  open(connection: Connection): Promise<Model>
}

const at = (baseURL: string | undefined) => (baseURL === undefined ? {} : { baseURL })

async function openaiClient({ apiKey, baseURL }: Connection) {
  const { default: OpenAI } = await import('openai')
  return new OpenAI({ apiKey, maxRetries: 0, ...at(baseURL) })
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    keys: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.4',
    client: 'openai',
    async open(connection) {
      const client = await openaiClient(connection)
      const { openaiResponses } = await import('../../providers/openai/index.ts')
      return openaiResponses({ client, model: connection.name })
    },
  },
  anthropic: {
    keys: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
    client: '@anthropic-ai/sdk',
    async open({ name, apiKey, baseURL }) {
      const { default: Anthropic } = await import('@anthropic-ai/sdk')
      const { anthropicMessages } = await import('../../providers/anthropic/index.ts')
      const client = new Anthropic({ apiKey, maxRetries: 0, ...at(baseURL) })
      return anthropicMessages({ client, model: name })
    },
  },
  gemini: {
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    defaultModel: 'gemini-3.8-flash',
    client: '@google/genai',
    async open({ name, apiKey, baseURL }) {
      const { GoogleGenAI } = await import('@google/genai')
      const { gemini } = await import('../../providers/gemini/index.ts')
      const httpOptions = baseURL === undefined ? {} : { httpOptions: { baseUrl: baseURL } }
      return gemini({ client: new GoogleGenAI({ apiKey, ...httpOptions }), model: name })
    },
  },
  'openai-chat': {
    keys: ['OPENAI_API_KEY'],
    client: 'openai',
    async open(connection) {
      const client = await openaiClient(connection)
      const { openaiChat } = await import('../../providers/openai/index.ts')
      return openaiChat({ client, model: connection.name })
    },
  },
  foundry: {
    keys: ['AZURE_OPENAI_API_KEY', 'OPENAI_API_KEY'],
    client: 'openai',
    async open(connection) {
      const client = await openaiClient(connection)
      const { foundry } = await import('../../providers/foundry/index.ts')
      return foundry({ client, model: connection.name })
    },
  },
}

/** Which model to use, before anything is loaded. */
export interface ModelChoice {
  readonly provider: string
  readonly name: string
  readonly baseURL: string | undefined
}

/** The model that the options name, or else the first that has a key; none at all is offline. */
export function chooseModel(
  values: Values<typeof MODEL_OPTIONS>,
  env: Io['env'],
): ModelChoice | undefined {
  const { model, offline, 'base-url': baseURL } = values
  if (offline === true) return undefined
  if (model !== undefined) return readChoice(model, baseURL)
  for (const [provider, { keys, defaultModel }] of Object.entries(PROVIDERS)) {
    if (defaultModel === undefined || !keys.some((key) => env[key])) continue
    return { provider, name: defaultModel, baseURL }
  }
  if (baseURL === undefined) return undefined
  throw usageError('`--base-url` needs `--model PROVIDER:NAME`, such as `openai-chat:llama-4`.')
}

function readChoice(model: string, baseURL: string | undefined): ModelChoice {
  const [, provider = '', name = ''] = /^([^:]*):?(.*)$/s.exec(model) ?? []
  const known = PROVIDERS[provider]
  if (known === undefined || !Object.hasOwn(PROVIDERS, provider)) {
    const names = Object.keys(PROVIDERS).join(', ')
    throw usageError(
      `\`--model ${model}\` names no provider: write PROVIDER:NAME with one of ${names}.`,
    )
  }
  const chosen = name || known.defaultModel
  if (chosen !== undefined) return { provider, name: chosen, baseURL }
  throw usageError(`\`--model ${model}\` names no model: write \`${provider}:NAME\`.`)
}

/** Connects to a model through its provider's own client, which has to be installed. */
export async function openModel(
  { provider, name, baseURL }: ModelChoice,
  env: Io['env'],
): Promise<Model> {
  const { keys, client, open } = PROVIDERS[provider] as Provider
  // A server of one's own often takes no key; the clients insist on some text.
  const apiKey = keys.map((key) => env[key]).find(Boolean) ?? (baseURL && 'none')
  if (!apiKey) {
    throw usageError(
      `\`${provider}\` needs a key: set ${keys[0]}, or run offline with \`--offline\`.`,
    )
  }
  try {
    return await open({ name, apiKey, baseURL })
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw usageError(`\`${provider}\` needs its client: run \`npm install ${client}\`.`)
  }
}
