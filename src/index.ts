export type { ForgeContext, ForgeOptions } from './artifacts/forge-tools.ts'
export type { Query as ArtifactQuery, QueryAnswer } from './artifacts/query.ts'
export { type GrepOptions, SpooledArtifact } from './artifacts/spooled-artifact.ts'
export { SpooledJsonArtifact } from './artifacts/spooled-json-artifact.ts'
export { SpooledMarkdownArtifact } from './artifacts/spooled-markdown-artifact.ts'
export { SpooledTableArtifact } from './artifacts/spooled-table-artifact.ts'
export { isInstanceOf } from './core/brand.ts'
export { canonicalStringify } from './core/canonical.ts'
export { checksum } from './core/checksum.ts'
export { BobbinError, isBobbinError } from './core/error.ts'
export type { ErrorCode, ErrorData } from './core/error-codes.ts'
export type { JsonArray, JsonObject, JsonValue } from './core/json.ts'
export type { JsonCompatible } from './core/json-compatible.ts'
export type { TrustTier } from './core/trust.ts'
export type { ProviderData, WireReference } from './core/wire-reference.ts'
export { ArgumentPreview } from './model/argument-preview.ts'
export type { Model } from './model/model.ts'
export { inlineBySize } from './prompt/inline-by-size.ts'
export type { HistoryItem } from './records/history-item.ts'
export { Memory, type RawMemory } from './records/memory.ts'
export { Message, type MessageRole, type RawMessage } from './records/message.ts'
export { type RawRetrievable, Retrievable } from './records/retrievable.ts'
export { type RawThought, Thought } from './records/thought.ts'
export { type RawToolCall, type Settlement, ToolCall } from './records/tool-call.ts'
export type { ToolCallResults } from './records/tool-call-results.ts'
export type { TurnToolCallContent } from './records/turn-tool-call-content.ts'
export type { SpooledArtifactConstructor } from './spool/artifact.ts'
export { Media, type RawMedia } from './spool/media.ts'
export type { MediaReader } from './spool/media-reader.ts'
export { blobMedia, bytesMedia, spoolMedia, streamMedia } from './spool/media-reader.ts'
export { memorySpool } from './spool/memory-spool.ts'
export type { SpoolReader } from './spool/spool-reader.ts'
export type { SpoolInput, SpoolStore } from './spool/spool-store.ts'
export type { StoreOptions } from './store/create-store.ts'
export type { Entry, EntryData, EntryKind, EntryOf, NewEntry } from './store/entry.ts'
export type {
  Gate,
  GateCause,
  GateDecision,
  GateRequest,
  GateState,
  NewGateDecision,
} from './store/gate.ts'
export { memoryStore } from './store/memory-store.ts'
export { redactKeys } from './store/redact-keys.ts'
export type { Redact, RedactionTarget } from './store/redaction.ts'
export type {
  AcquireOptions,
  ConversationInfo,
  EntryFilter,
  EntryPage,
  EntryQuery,
  ImportOptions,
  ImportReport,
  Lease,
  Store,
  VerifyFault,
  VerifyOptions,
  VerifyReport,
} from './store/store.ts'
export { storedResults } from './store/stored-results.ts'
export { sweepSpool } from './store/sweep-spool.ts'
export { Identity, type RawIdentity } from './text/identity.ts'
export { registerTokenCounter, type TokenCount, type TokenCounter } from './text/token-count.ts'
export { Tokenizable } from './text/tokenizable.ts'
export { ArtifactTool, type ArtifactToolOptions } from './tools/artifact-tool.ts'
export type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './tools/execution-events.ts'
export type { InferArguments, InputSchema } from './tools/input-schema.ts'
export { Tool } from './tools/tool.ts'
export type {
  ExecutionContext,
  JsonOutput,
  JsonOutputObject,
  ToolContext,
  ToolOutput,
} from './tools/tool-context.ts'
export type { Effect, Reconciliation, ToolOptions } from './tools/tool-options.ts'
export { ToolRegistry } from './tools/tool-registry.ts'
export type { DispatchContext } from './turn/dispatch-context.ts'
export type { CallRequest, Decision, Executor, ExecutorHelpers } from './turn/executor.ts'
export type { Approve, GateAnswer } from './turn/gate-answer.ts'
export type { CallSubject, Middleware } from './turn/middleware.ts'
export { type ModelExecutorOptions, modelExecutor } from './turn/model-executor.ts'
export type { StopReason, TurnOutcome, TurnStatus, TurnUsage } from './turn/outcome.ts'
export type { TurnRunnerOptions } from './turn/runner-options.ts'
export { type SubAgentOptions, subAgent } from './turn/sub-agent.ts'
export type {
  ErrorPlace,
  EventOrigin,
  FunctionalEvents,
  ObservedEvents,
  WarningCode,
} from './turn/turn-events.ts'
export type { RecoverInput, ResumeInput, TurnInput } from './turn/turn-input.ts'
export { TurnRunner } from './turn/turn-runner.ts'
export type { TurnEvent, TurnStream } from './turn/turn-stream.ts'
