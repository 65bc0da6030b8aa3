import { Given } from './given.ts'

/** What was found out about arguments that are deep-frozen real JSON; they cannot change any more. */
export interface ArgumentFacts {
  /** Which tool's checksum is known; empty before somebody asked for one. */
  tool: string
  checksum: string
}

/** A note on the arguments themselves. */
class Note extends Given {
  #facts: ArgumentFacts = { tool: '', checksum: '' }

  static mark(args: object): object {
    return new Note(args)
  }

  static of(args: object): ArgumentFacts | undefined {
    return #facts in args ? args.#facts : undefined
  }
}

/** Takes note that `args` are normalised within the default limits and need no second look. */
export function markNormalized(args: object): void {
  Note.mark(args)
}

/** The facts about arguments that were normalised; what is not frozen for good has none. */
export function factsOf(args: object): ArgumentFacts | undefined {
  return Note.of(args)
}
