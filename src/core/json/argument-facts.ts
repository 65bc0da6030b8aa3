interface Facts {
  /** The tool whose checksum is known; empty if none is. */
  tool: string
  checksum: string
}

/** Facts about arguments. These are deep-frozen JSON, so the facts stay true. */
const known = new WeakMap<object, Facts>()

/** Notes that `args` are normalised within the default limits and need no second check. */
export function markNormalized(args: object): void {
  known.set(args, { tool: '', checksum: '' })
}

/** Whether `markNormalized` was called for these arguments. */
export function isNormalized(args: object): boolean {
  return known.has(args)
}

/** The checksum of a call of `tool` with these arguments, if it was computed before. */
export function knownChecksum(args: object, tool: string): string | undefined {
  const facts = known.get(args)
  return facts?.tool === tool && facts.checksum !== '' ? facts.checksum : undefined
}

/** Keeps a checksum, if the arguments can never change. */
export function keepChecksum(args: object, tool: string, checksum: string): void {
  if (known.has(args)) known.set(args, { tool, checksum })
}
