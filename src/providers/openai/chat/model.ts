import type OpenAI from 'openai'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import { BobbinError } from '../../../core/error/error.ts'
import { checkModelOptions } from '../../../model/check-model-options.ts'
import type { Model } from '../../../model/model.ts'
import { wireModel } from '../../../model/wire-model.ts'
import { guardedOptions } from '../guarded-client.ts'
import { chatWith } from './protocol.ts'
import type { ChatParams } from './request.ts'
import { CHAT_QUIRKS, type ChatQuirks } from './wire/quirks.ts'
import {
  CHAT_SERVERS,
  type ChatServerName,
  isChatServer,
  quirksFor,
  serverAt,
} from './wire/servers.ts'

/** A client and a model of the Chat Completions API, and what every request carries along. */
export interface ChatOptions {
  /** Your client: it has the keys, the proxy, the retries and the time-outs, and the server's URL. */
  readonly client: OpenAI
  readonly model: string
  /** Tools that the provider defines, e.g. `{ type: 'custom', … }`. */
  readonly hostedTools?: readonly ChatCompletionTool[]
  /** Other members of the request. They win over ours. */
  readonly params?: ChatParams
  /** False sends no `prompt_cache_key`. True sends it to any server; otherwise only those known to take it get one. */
  readonly cache?: boolean
  /** False asks for whole responses. */
  readonly streaming?: boolean
  /** The most that a response may have, after decompression; 64 MiB when absent. */
  readonly maxResponseBytes?: number
  /**
   * Which compatible server it is. The client's base URL tells when absent; a server that is not known gets the
   * tolerant default.
   */
  readonly server?: ChatServerName
  /** How a compatible server differs. They win over what is known of `server`. */
  readonly quirks?: Partial<ChatQuirks>
}

/** A model behind OpenAI's Chat Completions API, or behind any server that speaks it. */
export function openaiChat(options: ChatOptions): Model {
  checkModelOptions(options, {
    factory: 'openaiChat',
    members: ['chat.completions.create'],
    example: 'new OpenAI()',
    options: ['quirks', 'server', 'cache'],
  })
  const { client, quirks, server, streaming = true, ...settings } = options
  if (server !== undefined && !isChatServer(server)) throw unknownServer(server)
  checkQuirks(quirks)
  return wireModel(chatWith(quirksFor(server ?? serverAt(client.baseURL), quirks)), {
    ...settings,
    endpoint: client.baseURL,
    modelFamily: familyOf(settings.model),
    stream: streaming,
    send: (body, how) =>
      client.chat.completions.create(body, guardedOptions(client, how)).asResponse(),
  })
}

function unknownServer(server: unknown): BobbinError {
  const names = Object.keys(CHAT_SERVERS).map((name) => `\`${name}\``)
  const rule = `must be one of ${names.join(', ')}, not \`${String(server)}\`; leave it out for any other server`
  return invalid('server', rule)
}

const QUIRKS = [...Object.keys(CHAT_QUIRKS), 'exactIdLength']

/** A misspelt rule would silently mean the default. */
function checkQuirks(quirks: unknown): void {
  if (quirks === undefined) return
  if (typeof quirks !== 'object' || quirks === null) throw invalid('quirks', 'must be an object')
  const stray = Object.keys(quirks).find((name) => !QUIRKS.includes(name))
  if (stray !== undefined) {
    throw invalid(`quirks.${stray}`, `is not a rule: use ${QUIRKS.join(', ')}`)
  }
  const { exactIdLength: exact = 9 } = quirks as { readonly exactIdLength?: unknown }
  const isLength = typeof exact === 'number' && Number.isInteger(exact) && exact >= 8 && exact <= 64
  if (!isLength) throw invalid('quirks.exactIdLength', 'must be a whole number from 8 to 64')
}

function invalid(path: string, rule: string): BobbinError {
  return new BobbinError('E_INVALID_MODEL', `\`${path}\` of \`openaiChat\` ${rule}.`, {
    path,
    rule,
  })
}

/** `gpt-5.4-2026-03-05` and `gpt-5.4` are one family. */
function familyOf(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}
