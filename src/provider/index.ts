export type { BobbinError } from '../core/error/error.ts'
export type { IdLedger } from '../core/ids.ts'
export type { JsonObject, JsonValue } from '../core/json/json.ts'
export type { ProviderData, WireReference } from '../core/wire-reference.ts'
export { defineProvider } from '../model/define-provider.ts'
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
export type { Model, ModelCallOptions, ModelRequest } from '../model/model.ts'
export type {
  Abilities,
  BodyInput,
  CommandLineConnection,
  CommandLineModel,
  Framing,
  HistoryPlace,
  LoopbackHalf,
  ProviderDefinition,
  WireFixture,
} from '../model/provider-definition.ts'
export type { Reply, Whole } from '../model/reply.ts'
export type { ToolChoice, ToolDefinition } from '../model/tool-definition.ts'
export type { EncodeOptions, Repair } from '../model/wire/encode-groups.ts'
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
  ProviderGate,
  RawItem,
  TextPart,
  ThoughtItem,
} from '../records/history-item.ts'
