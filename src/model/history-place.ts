/** Where a request of a protocol holds the history. */
export interface HistoryPlace {
  /** The member with the list, e.g. `messages`. */
  readonly member: string
  /** True when one text, or one item, may stand in place of the list. */
  readonly text?: boolean
  /** True when texts may stand in the list. */
  readonly textItems?: boolean
  /** The member with the tools, which a model reads before the list: a path with dots, e.g. `toolConfig.tools`. */
  readonly tools?: string
  /** The member with the instructions, if they do not stand in the list. */
  readonly instructions?: string
}
