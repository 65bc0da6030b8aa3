// The names that Bobbin uses of OpenTelemetry's conventions for generative AI. None of them is stable, and they have no release:
// this is open-telemetry/semantic-conventions-genai at commit 024a4f944a1291fcb627c9c47da69e79868dd15e. It changes as a whole.

/** The operations; each begins the name of its spans. */
export const OPERATION = {
  turn: 'invoke_agent',
  modelCall: 'chat',
  toolCall: 'execute_tool',
} as const

/** The method of MCP that a server serves; it begins the name of the span. */
export const SERVED_METHOD = 'tools/call'

/** The type of every tool: its handler runs here. */
export const TOOL_TYPE = 'function'

/** The error of a served call whose result is an error. */
export const TOOL_ERROR = 'tool_error'

/** The purpose of a request that asks for the summary of a conversation. */
export const SUMMARY = 'summary'

/** The attributes of spans and metrics. */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  error: 'error.type',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  outputType: 'gen_ai.output.type',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  modality: 'gen_ai.token.modality',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  mcpMethod: 'mcp.method.name',
  requestId: 'jsonrpc.request.id',
  // With `content: true` only.
  instructions: 'gen_ai.system_instructions',
  input: 'gen_ai.input.messages',
  output: 'gen_ai.output.messages',
  toolDescription: 'gen_ai.tool.description',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  // Bobbin's own: they point into the store.
  turn: 'bobbin.turn.id',
  turnInput: 'bobbin.turn.input',
  turnStatus: 'bobbin.turn.status',
  turnReason: 'bobbin.turn.reason',
  gateId: 'bobbin.gate.id',
  gateKind: 'bobbin.gate.kind',
  modelCallId: 'bobbin.model_call.id',
  attempt: 'bobbin.model_call.attempt',
  purpose: 'bobbin.model_call.purpose',
  checksum: 'bobbin.call.checksum',
  digest: 'bobbin.call.digest',
  settlement: 'bobbin.call.settlement',
  artifact: 'bobbin.artifact.digest',
} as const

/** The event of a turn's span for each gate that it waits for. */
export const GATE_EVENT = 'bobbin.gate'

/** Buckets for the durations of MCP requests, in seconds. */
const REQUEST_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** Buckets for durations, in seconds. */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]

/** Buckets for the durations of turns, in seconds. */
const TURN_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]

/** The metrics. Those with buckets are histograms, the others counters. */
export const METRIC = {
  modelDuration: {
    name: 'gen_ai.client.inference.duration',
    unit: 's',
    description: 'How long a request to a model took.',
    buckets: SECONDS,
  },
  firstChunk: {
    name: 'gen_ai.client.inference.time_to_first_chunk',
    unit: 's',
    description: 'How long it took until the first part of a response came.',
    buckets: SECONDS,
  },
  turnDuration: {
    name: 'gen_ai.invoke_agent.duration',
    unit: 's',
    description: 'How long a turn took.',
    buckets: TURN_SECONDS,
  },
  toolDuration: {
    name: 'gen_ai.execute_tool.duration',
    unit: 's',
    description: 'How long a call took.',
    buckets: SECONDS,
  },
  servedDuration: {
    name: 'mcp.server.operation.duration',
    unit: 's',
    description: 'How long a call of an MCP client took.',
    buckets: REQUEST_SECONDS,
  },
  modelCalls: {
    name: 'gen_ai.invoke_agent.inference_calls',
    unit: '{inference_call}',
    description: 'How many requests to models a turn made, without those of its sub-agents.',
    buckets: [0, 1, 2, 4, 8, 16, 32, 64, 128],
  },
  toolCalls: {
    name: 'gen_ai.invoke_agent.tool_calls',
    unit: '{tool_call}',
    description: 'How many calls a turn ran, without those of its sub-agents.',
    buckets: [0, 1, 2, 4, 8, 16, 32, 64, 128],
  },
  inputTokens: {
    name: 'gen_ai.client.inference.usage.input_tokens',
    unit: '{token}',
    description: 'Tokens that models read, cached ones included.',
  },
  outputTokens: {
    name: 'gen_ai.client.inference.usage.output_tokens',
    unit: '{token}',
    description: 'Tokens that models wrote, reasoning included.',
  },
  cacheReadTokens: {
    name: 'gen_ai.client.inference.usage.cache_read.input_tokens',
    unit: '{token}',
    description: 'Tokens that came from a cache.',
  },
  cacheWriteTokens: {
    name: 'gen_ai.client.inference.usage.cache_write.input_tokens',
    unit: '{token}',
    description: 'Tokens that were written to a cache.',
  },
  reasoningTokens: {
    name: 'gen_ai.client.inference.usage.reasoning.output_tokens',
    unit: '{token}',
    description: 'Tokens that models wrote as reasoning.',
  },
} as const

/** The providers that the conventions know by another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'aws-bedrock': 'aws.bedrock',
  'azure-foundry': 'azure.ai.openai',
  google: 'gcp.gen_ai',
}

export const providerName = (provider: string): string => PROVIDERS[provider] ?? provider

/** The reasons that the conventions know by another name. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  tools: 'tool_call',
  filter: 'content_filter',
}

export const finishReason = (reason: string): string => FINISH_REASONS[reason] ?? reason
