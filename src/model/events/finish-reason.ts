/**
 * Why a response ended. Adapters translate their own words; the raw one is kept beside it.
 *
 * - `stop`, `tools`: finished; some wires say `stop` even when they ask for tools
 * - `length`: the token limit cut it
 * - `filter`: a safety filter cut it
 * - `refusal`: the model declined
 * - `pause`: the provider wants the same content sent back so that it can continue
 * - `waiting`: a person must act first (consent)
 * - `error`: the provider says that its own output is broken
 * - `other`: a word that we do not know
 */
export type FinishReason =
  | 'stop'
  | 'tools'
  | 'length'
  | 'filter'
  | 'refusal'
  | 'pause'
  | 'waiting'
  | 'error'
  | 'other'

/** True when calls of a response that ended so may run. An unknown reason permits nothing. */
export function permitsTools(reason: FinishReason): boolean {
  return reason === 'tools' || reason === 'stop'
}
