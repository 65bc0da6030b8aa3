export type { ConformanceCheck } from './conformance-check.ts'
export type { LoopbackFault } from './loopback-fault.ts'
export {
  type LoopbackExchange,
  type LoopbackOptions,
  type LoopbackProvider,
  type LoopbackRequest,
  type LoopbackScript,
  loopbackProvider,
} from './loopback-provider.ts'
export { spoolConformance } from './spool-conformance.ts'
export type { OpenedStore, OpenStore } from './store-check.ts'
export { storeConformance } from './store-conformance.ts'
