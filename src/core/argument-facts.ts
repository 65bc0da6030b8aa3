/** What was found out about arguments that are deep-frozen real JSON; they cannot change any more. */
export interface ArgumentFacts {
  /** Which tool's checksum is known; empty before somebody asked for one. */
  tool: string
  checksum: string
}

const known = new WeakMap<object, ArgumentFacts>()

/** Takes note that `args` are normalised within the default limits and need no second look. */
export function markNormalized(args: object): void {
  known.set(args, { tool: '', checksum: '' })
}

/** The facts about arguments that were normalised; what is not frozen for good has none. */
export function factsOf(args: object): ArgumentFacts | undefined {
  return known.get(args)
}
