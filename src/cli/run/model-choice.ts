import type { Model } from '../../model/model.ts'
import type { CommandLineModel } from '../../model/provider-definition.ts'
import { providers } from '../../wire/providers.ts'
import type { Options, Values } from '../command/command.ts'
import { usageError } from '../command/usage-error.ts'
import type { Io } from '../terminal/io.ts'
import { importEntry, importFile } from './import-file.ts'

/** The providers that the command line can connect to, by name. */
const CONNECTED: ReadonlyMap<string, CommandLineModel> = new Map(
  providers.flatMap(({ cli }) => (cli === undefined ? [] : [[cli.name, cli] as const])),
)

/** The options by which every command that runs turns takes its model. */
export const MODEL_OPTIONS = {
  model: {
    type: 'string',
    short: 'm',
    value: 'PROVIDER:NAME',
    help: `One of ${[...CONNECTED.keys()].join(', ')}, and the name of a model`,
  },
  'base-url': { type: 'string', value: 'URL', help: 'Another server that speaks the protocol' },
  offline: { type: 'boolean', help: 'Use no model, whatever keys are set' },
} as const satisfies Options

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
  for (const [provider, { keys, defaultModel }] of CONNECTED) {
    if (defaultModel === undefined || !keys.some((key) => env[key])) continue
    return { provider, name: defaultModel, baseURL }
  }
  if (baseURL === undefined) return undefined
  throw usageError('`--base-url` needs `--model PROVIDER:NAME`, such as `openai-chat:llama-4`.')
}

function readChoice(model: string, baseURL: string | undefined): ModelChoice {
  const [, provider = '', name = ''] = /^([^:]*):?(.*)$/s.exec(model) ?? []
  const known = CONNECTED.get(provider)
  if (known === undefined) {
    const names = [...CONNECTED.keys()].join(', ')
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
  const { keys, client, entry, factory, connect } = CONNECTED.get(provider) as CommandLineModel
  // A server of one's own often takes no key; the clients insist on some text.
  const apiKey = keys.map((key) => env[key]).find(Boolean) ?? (baseURL && 'none')
  if (!apiKey) {
    throw usageError(
      `\`${provider}\` needs a key: set ${keys[0]}, or run offline with \`--offline\`.`,
    )
  }
  try {
    const sdk = await importFile(client)
    const options = connect(sdk, { apiKey, ...(baseURL !== undefined && { baseURL }) })
    const make = (await importEntry(entry))[factory] as (options: object) => Model
    return make({ ...options, model: name })
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw usageError(`\`${provider}\` needs its client: run \`npm install ${client}\`.`)
  }
}
