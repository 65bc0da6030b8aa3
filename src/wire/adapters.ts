import type { WireAdapter } from '../model/wire-adapter.ts'

/** Every protocol that `wire` speaks and that the conformance tests hold to the same rules. */
export const adapters: readonly WireAdapter[] = []
