/** A response: untouched, as the parsed events of a stream, or as a parsed value with the text that it was parsed from. */
export type Reply = Response | { readonly events: AsyncIterable<unknown> } | Whole

/** A parsed response, with the text that it was parsed from where that is known. */
export interface Whole {
  readonly payload: unknown
  readonly source?: string
}
