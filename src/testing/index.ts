export type { ConformanceCheck } from './conformance-check.ts'
export { type EventRecorder, eventRecorder, type RecordedEvent } from './event-recorder.ts'
export type { LoopbackExchange, LoopbackRequest } from './loopback/loopback-exchange.ts'
export type { LoopbackFault } from './loopback/loopback-fault.ts'
export {
  type LoopbackOptions,
  type LoopbackProvider,
  type LoopbackScript,
  loopbackProvider,
} from './loopback/loopback-provider.ts'
export type { LoopbackRecord } from './loopback/recorder.ts'
export type { LoopbackRecording } from './loopback/recording.ts'
export { type ModelConformanceOptions, modelConformance } from './model/model-conformance.ts'
export {
  type ScriptedModel,
  type ScriptedPart,
  type ScriptedStep,
  scriptedModel,
} from './scripted-model.ts'
export { type OpenSpoolStore, spoolConformance } from './spool-conformance.ts'
export type { OpenedStore, OpenStore } from './store/store-check.ts'
export { storeConformance } from './store/store-conformance.ts'
export { type TapedCall, type ToolTape, toolTape } from './tool-tape.ts'
