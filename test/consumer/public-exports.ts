interface PublicNames {
  /** Names that exist at run time: all of them, sorted. */
  readonly values: readonly string[]
  /** Names that exist for the compiler alone. */
  readonly types: readonly string[]
}

/** What each entry of `exports` in package.json offers. A new subpath or export is a line here. */
export const publicExports: Readonly<Record<string, PublicNames>> = {
  bobbin: {
    values: ['BobbinError', 'isBobbinError', 'isInstanceOf'],
    types: [],
  },
}
