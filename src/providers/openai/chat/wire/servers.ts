import { CHAT_QUIRKS, type ChatQuirks } from './quirks.ts'

/** The known habits of one kind of compatible server. */
export interface ChatServer {
  /** The domains of its base URL, subdomains included; absent where servers have no address in common. */
  readonly domains?: readonly string[]
  /** The port that it listens on unless told otherwise, where no other server is likely to. */
  readonly port?: number
  /** What a request must know. */
  readonly quirks: Partial<ChatQuirks>
  /** The members in which it sends reasoning. */
  readonly reasoning?: readonly string[]
  /** Its words for the end of a response that OpenAI does not have. */
  readonly finishWords?: readonly string[]
  /** What else it does, in words. All of it is read without a setting. */
  readonly sends?: string
  /** What it refuses, in words. */
  readonly refuses?: string
  /** Where this was reported or documented. */
  readonly evidence: readonly string[]
}

const { echoes } = CHAT_QUIRKS
const echoing = (...members: readonly string[]) =>
  echoes.filter((name) => members.includes(name) || name === 'extra_content')

const GITHUB = 'https://github.com'

/** The compatible servers for whose habits evidence was found. Any other server gets the tolerant default. */
export const CHAT_SERVERS = {
  mistral: {
    domains: ['mistral.ai'],
    quirks: {
      exactIdLength: 9,
      echoes: ['prefix'],
      streamUsage: false,
      renames: { max_completion_tokens: 'max_tokens' },
    },
    sends: 'token counts of a stream without being asked; errors whose `message` is an object',
    refuses:
      'ids other than 9 letters and digits, unknown members, `stream_options`, `max_completion_tokens`, an empty list of tools',
    evidence: [
      `${GITHUB}/anomalyco/opencode/issues/1680`,
      `${GITHUB}/BerriAI/litellm/issues/30835`,
      `${GITHUB}/vybestack/llxprt-code/issues/114`,
      `${GITHUB}/editor-code-assistant/eca/issues/231`,
      `${GITHUB}/partITech/php-mistral/issues/76`,
    ],
  },
  deepseek: {
    domains: ['deepseek.com'],
    quirks: { echoes: echoing('reasoning_content', 'prefix'), outputFormat: 'json_object' },
    reasoning: ['reasoning_content'],
    finishWords: ['insufficient_system_resource'],
    refuses:
      'a call of thinking mode without its `reasoning_content`, even an empty one; `response_format` of type `json_schema`',
    evidence: [
      `${GITHUB}/anomalyco/opencode/issues/24722`,
      `${GITHUB}/deepseek-ai/deepseek-harness/discussions/739`,
      `${GITHUB}/UKGovernmentBEIS/inspect_ai/issues/4916`,
      'https://docs.rs/crate/ds-api/latest/source/src/raw/response/non_streaming/finish_reason.rs',
    ],
  },
  groq: {
    domains: ['groq.com'],
    quirks: { echoes: [] },
    reasoning: ['reasoning'],
    sends: 'an error `tool_use_failed` with what the model wrote instead of a call',
    refuses: '`reasoning_content`; `reasoning` with models that do not reason',
    evidence: [
      `${GITHUB}/janhq/jan/issues/8136`,
      `${GITHUB}/vercel/ai/issues/8056`,
      `${GITHUB}/karthink/gptel/issues/774`,
    ],
  },
  xai: {
    domains: ['x.ai'],
    quirks: { emptyContent: '' },
    reasoning: ['reasoning_content'],
    sends: 'errors that are a text, beside a `code` that is a sentence',
    refuses: 'a message without content, also one that only calls tools',
    evidence: [
      `${GITHUB}/langchain-ai/langchain/issues/34140`,
      `${GITHUB}/pipecat-ai/pipecat/pull/646`,
      `${GITHUB}/AstrBotDevs/AstrBot/issues/6447`,
      'https://docs.apiyi.com/en/api-capabilities/openai/reasoning-models',
    ],
  },
  together: {
    domains: ['together.ai', 'together.xyz'],
    quirks: {},
    finishWords: ['eos', 'error'],
    evidence: [
      `${GITHUB}/openai/openai-dotnet/pull/267`,
      `${GITHUB}/togethercomputer/together-python/pull/153`,
    ],
  },
  fireworks: {
    domains: ['fireworks.ai'],
    quirks: {
      echoes: echoing('reasoning_content'),
      streamUsage: false,
      promptCacheKey: true,
    },
    reasoning: ['reasoning_content'],
    refuses: '`stream_options`',
    evidence: [
      `${GITHUB}/FlowiseAI/Flowise/issues/2866`,
      'https://docs.fireworks.ai/guides/reasoning',
      'https://docs.fireworks.ai/guides/prompt-caching',
      'https://reference.langchain.com/python/langchain-fireworks/middleware',
    ],
  },
  openrouter: {
    domains: ['openrouter.ai'],
    quirks: { echoes: echoing('reasoning', 'reasoning_details') },
    reasoning: ['reasoning', 'reasoning_details'],
    finishWords: ['error'],
    sends: 'comments between events; errors inside a stream, as an event with `error`',
    evidence: [
      'https://openrouter.ai/docs/api-reference/streaming',
      'https://openrouter.ai/docs/api/errors',
    ],
  },
  cerebras: {
    domains: ['cerebras.ai'],
    quirks: { echoes: ['reasoning'] },
    reasoning: ['reasoning'],
    refuses: '`reasoning_content` and every other unknown member (`wrong_api_format`)',
    evidence: [
      `${GITHUB}/vercel/ai/issues/15042`,
      `${GITHUB}/QwenLM/qwen-code/issues/11045`,
      `${GITHUB}/proxysoul/Empryo/pull/209`,
    ],
  },
  snowflake: {
    domains: ['snowflakecomputing.com'],
    quirks: { renames: { max_tokens: 'max_completion_tokens' } },
    sends: 'an error 400 `conversation complete` where others would stop; it stays an error',
    refuses: '`max_tokens`',
    evidence: [
      `${GITHUB}/anomalyco/opencode/issues/29900`,
      `${GITHUB}/langchain-ai/langchain-snowflake/issues/132`,
    ],
  },
  ollama: {
    domains: ['ollama.com'],
    port: 11_434,
    quirks: { echoes: ['reasoning'] },
    reasoning: ['reasoning'],
    sends: '`finish_reason: "stop"` with calls; an answer whose `content` is empty',
    evidence: [
      `${GITHUB}/anomalyco/opencode/issues/46061`,
      `${GITHUB}/earendil-works/pi/pull/1125`,
      `${GITHUB}/ollama/ollama/issues/13371`,
    ],
  },
  vllm: {
    quirks: { echoes: echoing('reasoning', 'reasoning_content') },
    reasoning: ['reasoning', 'reasoning_content'],
    sends:
      'ids of 46 characters; errors inside a stream, as `{ "object": "error" }` or with `error`',
    refuses:
      'ids other than 9 letters and digits, with models of Mistral: set `quirks.exactIdLength`',
    evidence: [
      `${GITHUB}/block/goose/pull/8031`,
      `${GITHUB}/ogx-ai/ogx/pull/4244`,
      `${GITHUB}/vllm-project/vllm/issues/9019`,
      `${GITHUB}/vllm-project/vllm/pull/19662`,
    ],
  },
  lmstudio: {
    port: 1234,
    quirks: { namedToolChoice: false },
    sends: 'errors that are a text; an empty name in later pieces of a call',
    refuses: '`tool_choice` that names a tool; `response_format` of type `json_object`',
    evidence: [
      `${GITHUB}/antropia-studio/linguito/issues/21`,
      `${GITHUB}/lmstudio-ai/lmstudio-bug-tracker/issues/649`,
      `${GITHUB}/lmstudio-ai/lmstudio-bug-tracker/issues/189`,
    ],
  },
  llamacpp: {
    quirks: { echoes: echoing('reasoning_content') },
    reasoning: ['reasoning_content'],
    sends: 'the name of a tool in every piece of its call',
    refuses: 'calls in the history without `type` or id, or with arguments that are not JSON',
    evidence: [
      `${GITHUB}/ggml-org/llama.cpp/pull/12379`,
      `${GITHUB}/lemonade-sdk/lemonade/pull/1481`,
      `${GITHUB}/sigoden/aichat/issues/1296`,
    ],
  },
} as const satisfies Readonly<Record<string, ChatServer>>

/** The name of a compatible server whose habits are known. */
export type ChatServerName = keyof typeof CHAT_SERVERS

/** True for the name of a server in the table. */
export function isChatServer(name: unknown): name is ChatServerName {
  return typeof name === 'string' && Object.hasOwn(CHAT_SERVERS, name)
}

/** The known server at a base URL, if any. */
export function serverAt(baseURL: unknown): ChatServerName | undefined {
  let url: URL
  try {
    url = new URL(String(baseURL))
  } catch {
    return undefined
  }
  const names = Object.keys(CHAT_SERVERS) as ChatServerName[]
  return names.find((name) => {
    const { domains = [], port }: ChatServer = CHAT_SERVERS[name]
    if (port !== undefined && url.port === String(port)) return true
    return domains.some((domain) => `.${url.hostname}`.endsWith(`.${domain}`))
  })
}

/** The quirks for a server: those of the user win over those of the server, and these over the default. */
export function quirksFor(
  server: ChatServerName | undefined,
  own: Partial<ChatQuirks> = {},
): ChatQuirks {
  const given = Object.entries(own).filter(([, value]) => value !== undefined)
  const row = server !== undefined && CHAT_SERVERS[server].quirks
  return { ...CHAT_QUIRKS, ...row, ...Object.fromEntries(given) }
}
