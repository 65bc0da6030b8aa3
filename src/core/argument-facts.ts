import { Given } from './given.ts'

/** A note on arguments that are deep-frozen real JSON: whatever was found out about them stays true. */
class Note extends Given {
  /** Which tool's checksum is known; empty before somebody asked for one. */
  #tool = ''
  #checksum = ''

  static mark(args: object): object {
    return new Note(args)
  }

  static isOn(args: object): boolean {
    return #checksum in args
  }

  static checksumFor(args: object, tool: string): string | undefined {
    if (!(#checksum in args) || args.#checksum === '' || args.#tool !== tool) return undefined
    return args.#checksum
  }

  static keep(args: object, tool: string, checksum: string): void {
    if (!(#checksum in args)) return
    args.#tool = tool
    args.#checksum = checksum
  }
}

/** Takes note that `args` are normalised within the default limits and need no second look. */
export function markNormalized(args: object): void {
  Note.mark(args)
}

/** Whether somebody took that note; what is not frozen for good has none. */
export function isNormalized(args: object): boolean {
  return Note.isOn(args)
}

/** The checksum of a call of `tool` with these arguments, if it was computed before. */
export function knownChecksum(args: object, tool: string): string | undefined {
  return Note.checksumFor(args, tool)
}

/** Remembers a checksum, where it cannot become wrong. */
export function keepChecksum(args: object, tool: string, checksum: string): void {
  Note.keep(args, tool, checksum)
}
