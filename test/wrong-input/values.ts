/** What people pass by mistake, by a name for each kind. */
export const WRONG = {
  undefined: undefined,
  null: null,
  object: {},
  list: [],
  'list of null': [null],
  text: 'x',
  'empty text': '',
  number: 7,
  NaN: Number.NaN,
  true: true,
  bigint: 1n,
  symbol: Symbol('s'),
  function: () => {},
  date: new Date(0),
  map: new Map(),
}

export type Kind = keyof typeof WRONG

export const EVERY_KIND = Object.keys(WRONG) as Kind[]

/** One place at which a public function takes something. */
export interface WayIn {
  readonly name: string
  /** Calls the function with a wrong value there, all else being right. */
  readonly call: (value: never) => unknown
  /** The kinds that are right here after all. */
  readonly takes?: readonly Kind[]
}

/** A way in, and which kinds of value are welcome there. */
export const way = (
  name: string,
  call: (value: never) => unknown,
  ...takes: readonly Kind[]
): WayIn => ({ name, call, takes })
