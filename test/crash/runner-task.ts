import type { StorePlace } from './store-at.ts'

/** What a runner process is told on its command line, as JSON. */
export interface RunnerTask {
  readonly act: 'run' | 'recover' | 'resume'
  /** The name of the case; the model is told, so that its requests can be told apart. */
  readonly scope: string
  readonly place: StorePlace
  readonly modelUrl: string
  readonly effectsUrl: string
  /** The how-manieth point is its last; 0 lets it live. */
  readonly killAt: number
}

/** How the model hears which case it is in. */
export const caseName = (scope: string): string => `Case ${scope}.`
