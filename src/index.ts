export type { ForgeContext, ForgeOptions } from './artifacts/forge-tools.ts'
export type { JsonPlace, ScanOptions } from './artifacts/json/json-document.ts'
export type {
  ItemRange as JsonItemRange,
  ItemsEnd as JsonItemsEnd,
  JsonItem,
  Taken as JsonItemsTaken,
  Taking as JsonItemsToTake,
  WalkEnd as JsonWalkEnd,
  WalkRange as JsonWalkRange,
} from './artifacts/json/json-items.ts'
export type { JsonType } from './artifacts/json/json-member.ts'
export type { JsonCondition, JsonRange, JsonText } from './artifacts/json/json-reader.ts'
export type { MarkdownBlock, MarkdownScan } from './artifacts/markdown/markdown-blocks.ts'
export type { MarkdownLink } from './artifacts/markdown/markdown-links.ts'
export type { BlockPosition, ItemPosition } from './artifacts/query/cursor.ts'
export type { FilterOperand, FilterOperator } from './artifacts/query/json-filter.ts'
export type {
  LinePosition,
  LineRange,
  LineWindow,
  WindowLimits,
} from './artifacts/query/line-window.ts'
export type {
  Parameter as QueryParameter,
  Parameters as QueryParameters,
  Query as ArtifactQuery,
  QueryAnswer,
  QueryContext,
} from './artifacts/query/query.ts'
export type { RestoreContext } from './artifacts/restore-artifact.ts'
export {
  type GrepOptions,
  type LinesOptions,
  SpooledArtifact,
} from './artifacts/spooled-artifact.ts'
export { SpooledJsonArtifact } from './artifacts/spooled-json-artifact.ts'
export {
  type MarkdownCode,
  type MarkdownHeading,
  SpooledMarkdownArtifact,
} from './artifacts/spooled-markdown-artifact.ts'
export { SpooledTableArtifact } from './artifacts/spooled-table-artifact.ts'
export type { RowScan as TableScan } from './artifacts/table/csv-table.ts'
export type {
  GroupCounts,
  RowRange as TableRowRange,
  RowsEnd as TableRowsEnd,
  TableCondition,
  TableRow,
} from './artifacts/table/table-types.ts'
export { checksum } from './core/checksum.ts'
export type { Clock } from './core/clock.ts'
export { isInstanceOf } from './core/error/brand.ts'
export { BobbinError, isBobbinError } from './core/error/error.ts'
export type {
  ArgumentRule,
  ErrorCode,
  ErrorData,
  InvalidField,
  ProviderFailure,
  StoreFailure,
} from './core/error/error-codes.ts'
export type { IdSource } from './core/ids.ts'
export { canonicalStringify } from './core/json/canonical.ts'
export type { JsonArray, JsonObject, JsonValue, PlainObject } from './core/json/json.ts'
export type { JsonCompatible, NotJson } from './core/json/json-compatible.ts'
export type { TrustTier } from './core/trust.ts'
export type { ProviderData, WireReference } from './core/wire-reference.ts'
export { ArgumentPreview } from './model/events/argument-preview.ts'
export type { FinishReason } from './model/events/finish-reason.ts'
export type {
  Finish as ModelFinish,
  ModelEvent,
  TextDelta,
  ThoughtDelta,
  ToolInputDelta,
  UnfinishedCall,
  Usage,
} from './model/events/model-event.ts'
export { type FallbackOptions, fallbackModel } from './model/fallback-model.ts'
export type {
  KeptResponse,
  Model,
  ModelCallOptions,
  ModelFallback,
  ModelName,
  ModelRequest,
  SentRequest,
} from './model/model.ts'
export type { PromptPieces } from './model/prompt-pieces.ts'
export type { ToolChoice, ToolDefinition } from './model/tool-definition.ts'
export type { CallPlace, MintId } from './model/wire/synthetic-id.ts'
export type { BudgetReport, FixedPart as BudgetPart } from './prompt/budget-report.ts'
export { type InlineLimit, inlineBySize } from './prompt/inline-by-size.ts'
export type { ApprovedBy } from './records/approved-by.ts'
export type {
  CallItem,
  CallResult,
  ContentPart,
  ForeignForm,
  HistoryItem,
  MediaPart,
  MediaSource,
  MessageItem,
  OpenCallItem,
  PromptChange,
  ProviderGate,
  RawItem,
  TextPart,
  ThoughtItem,
  ToldPrompt,
} from './records/history-item.ts'
export { Memory, type RawMemory } from './records/memory.ts'
export { Message, type MessageRole, type RawMessage } from './records/message.ts'
export type { PlacedMedia } from './records/placed-media.ts'
export { resultText } from './records/result-text.ts'
export { type RawRetrievable, Retrievable } from './records/retrievable.ts'
export { type RawThought, Thought } from './records/thought.ts'
export { type RawToolCall, type Settlement, ToolCall } from './records/tool-call.ts'
export type { ToolCallResults } from './records/tool-call-results.ts'
export type { TurnToolCallContent } from './records/turn-tool-call-content.ts'
export type { Artifact, SpooledArtifactConstructor } from './spool/artifact.ts'
export type { LineText } from './spool/line-text.ts'
export { Media, type RawMedia } from './spool/media.ts'
export type { MediaFacts, MediaReader } from './spool/media-reader.ts'
export { blobMedia, bytesMedia, spoolMedia, streamMedia } from './spool/media-reader.ts'
export { type MemorySpoolOptions, memorySpool } from './spool/memory-spool.ts'
export type { FoundLine } from './spool/search/found-lines.ts'
export type { PatternOptions } from './spool/search/pattern.ts'
export type { SearchAnswer, SearchOptions } from './spool/search/search.ts'
export type { ByteRange, SpoolReader } from './spool/spool-reader.ts'
export type { SpoolInput, SpoolStore, SweepReport } from './spool/spool-store.ts'
export { conversationKey } from './store/conversation-key.ts'
export type { StoreOptions } from './store/core/create-store.ts'
export type {
  BreakCause,
  ModelCall,
  RequestPart,
  RequestParts,
  StoredPrefix,
  StoredUsage,
  Summary,
} from './store/entry.ts'
export type {
  FeedContent,
  FeedEvent,
  FeedGateDecided,
  FeedGateOpened,
  FeedMessage,
  FeedModelCall,
  FeedProgress,
  FeedRewind,
  FeedStamp,
  FeedStoredMessage,
  FeedSummary,
  FeedThought,
  FeedToolCall,
  FeedToolInput,
  FeedTurnEnd,
  FeedTurnStart,
  FeedWarning,
} from './store/feed/feed-event.ts'
export type { FollowInput } from './store/feed/follow.ts'
export type { StopInput } from './store/feed/stop-turn.ts'
export type {
  Gate,
  GateCause,
  GateDecision,
  GateRequest,
  GateState,
} from './store/gate.ts'
export type { Grant, GrantRequest } from './store/grant.ts'
export { memoryStore } from './store/memory/memory-store.ts'
export { comparePositions } from './store/position.ts'
export { redactKeys } from './store/rows/redact-keys.ts'
export type { Redact, RedactionTarget } from './store/rows/redaction.ts'
export type { Store } from './store/store.ts'
export { Identity, type RawIdentity } from './text/identity.ts'
export { registerTokenCounter, type TokenCount, type TokenCounter } from './text/token-count.ts'
export { Tokenizable } from './text/tokenizable.ts'
export { ArtifactTool, type ArtifactToolOptions } from './tools/artifact-tool.ts'
export type { ToolExecutionEndEvent, ToolExecutionStartEvent } from './tools/execution-events.ts'
export type {
  ArgumentIssue,
  InferArguments,
  InputSchema,
  PlainJsonSchema,
  SelfDescribingSchema,
  Validation,
} from './tools/input-schema.ts'
export {
  type InputQuestion,
  inputRequired,
  type LinkQuestion,
  linkRequired,
  type PersonRequest,
} from './tools/person-request.ts'
export { Tool } from './tools/tool.ts'
export type {
  ExecutionContext,
  GivenInput,
  JsonOutput,
  JsonOutputObject,
  ToolContext,
  ToolOutput,
  TraceContext,
} from './tools/tool-context.ts'
export type {
  CollisionPolicy,
  Effect,
  ExternalToolOptions,
  PolicyContext,
  ProducedResult,
  Reconciliation,
  ToolOptions,
  UndoneCall,
} from './tools/tool-options.ts'
export { ToolRegistry } from './tools/tool-registry.ts'
export type { CallSubject, Middleware } from './turn/call/middleware.ts'
export type { TrustPolicy } from './turn/call/trust-policy.ts'
export type {
  Compaction,
  Summarise,
  SummaryAnswer,
  SummaryRequest,
} from './turn/compact/compaction.ts'
export { type ModelSummaryOptions, modelSummary } from './turn/compact/model-summary.ts'
export type {
  ModelCallTrace,
  Scrub,
  ServedFrom,
  Telemetry,
  ToolCallTrace,
  TracedFinish,
  TracedModelCall,
  TracedToolCall,
  TurnBegin,
  TurnTrace,
} from './turn/events/telemetry.ts'
export type {
  ErrorPlace,
  EventOrigin,
  FunctionalEventName,
  FunctionalEvents,
  ObservedEventName,
  ObservedEvents,
  TurnTextContent,
  TurnToolInputContent,
  WarningCode,
} from './turn/events/turn-events.ts'
export type {
  CallRequest,
  Executor,
  ExecutorDecision,
  ExecutorHelpers,
  RoundTrip,
} from './turn/executor/executor.ts'
export { type ModelExecutorOptions, modelExecutor } from './turn/executor/model-executor.ts'
export type {
  ApprovalAnswer,
  Approve,
  ErrorAnswer,
  GateAnswer,
  InputAnswer,
  LinkAnswer,
  ResultAnswer,
} from './turn/gates/gate-answer.ts'
export type { MayDecide } from './turn/gates/may-decide.ts'
export type { TurnLimits } from './turn/limits/limits.ts'
export type {
  CompletedTurn,
  StopCode,
  StopReason,
  TurnFacts,
  TurnOutcome,
  TurnStatus,
  TurnUsage,
  UnfinishedStatus,
  UnfinishedTurn,
} from './turn/limits/outcome.ts'
export type { Price, Prices } from './turn/limits/prices.ts'
export type { RepeatLimits } from './turn/limits/repeat-guard.ts'
export type { OutputRequest, OutputSchema } from './turn/loop/structured-output.ts'
export type {
  RecoverInput,
  RegenerateInput,
  ResumeInput,
  TurnInput,
  UndoInput,
} from './turn/loop/turn-input.ts'
export { type SubAgentOptions, subAgent } from './turn/nested/sub-agent.ts'
export type { AgentOptions, SetupContext } from './turn/options/agent-options.ts'
export type {
  Capture,
  RunnerOptions,
  Sleep,
  TestingOptions,
  TokenBudget,
} from './turn/options/option-table.ts'
export type { TurnRunnerOptions } from './turn/options/runner-options.ts'
export type { DispatchContext } from './turn/request/dispatch-context.ts'
export type { TurnHandle } from './turn/turn-handle.ts'
export { TurnRunner } from './turn/turn-runner.ts'
