export type { BobbinError } from '../core/error/error.ts'
export type { IdLedger } from '../core/ids.ts'
export type { JsonObject, JsonValue } from '../core/json/json.ts'
export type { ProviderData, WireReference } from '../core/wire-reference.ts'
export type { AppendedChange, SayChange } from '../model/appended-changes.ts'
export { defineProvider } from '../model/define-provider.ts'
export { assemble, type Ending } from '../model/events/assembler.ts'
export type { FinishReason } from '../model/events/finish-reason.ts'
export type {
  Finish,
  ModelEvent,
  TextDelta,
  ThoughtDelta,
  ToolInputDelta,
  UnfinishedCall,
  Usage,
} from '../model/events/model-event.ts'
export type { HistoryPlace } from '../model/history-place.ts'
export type { Model, ModelCallOptions, ModelRequest } from '../model/model.ts'
export type {
  Abilities,
  AppendTarget,
  BodyInput,
  CommandLineConnection,
  CommandLineModel,
  Framing,
  LoopbackHalf,
  ProviderDefinition,
  WireFixture,
} from '../model/provider-definition.ts'
export {
  clientFailure,
  type FailureCode,
  type FailureFacts,
  providerFailure,
} from '../model/provider-failure.ts'
export type { Reply, Whole } from '../model/reply.ts'
export { brokenStream, type StreamFault } from '../model/stream-fault.ts'
export type { ToolChoice, ToolDefinition } from '../model/tool-definition.ts'
export {
  type EncodeContext,
  type EncodeOptions,
  encodeGroups,
  type Group,
  type GroupOptions,
  type Repair,
} from '../model/wire/encode-groups.ts'
export {
  type CallFacts,
  HistoryBuilder,
  type ResultFacts,
  type ResultParts,
  type SideFacts,
} from '../model/wire/history-builder.ts'
export type { IdRules } from '../model/wire/id-projection.ts'
export type { CallPlace, MintId } from '../model/wire/synthetic-id.ts'
export type {
  DecodeContext,
  Decoding,
  StreamDecoder,
  Violation,
  WireAdapter,
  WireApi,
} from '../model/wire/wire-adapter.ts'
export { type SendContext, type WireModelOptions, wireModel } from '../model/wire-model.ts'
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
} from '../records/history-item.ts'
