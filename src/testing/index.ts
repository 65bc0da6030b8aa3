export type { ConformanceCheck } from './conformance-check.ts'
export { spoolConformance } from './spool-conformance.ts'
export { storeConformance } from './store-conformance.ts'
