/** The keys of an object in the order in which it has them, and what follows from them. */
export interface KeyShape {
  readonly keys: readonly string[]
  readonly sorted: readonly string[]
  /** Some key begins with a digit: engines may put it first, whatever the order of insertion. */
  readonly hasDigits: boolean
  /** See `leadsOf`; made on first use. */
  leads: readonly string[] | undefined
}

// Objects come in few shapes, so sorting the keys of each anew is wasted. The shapes met last are kept:
// few and small, because keys come from strangers.
const SLOTS = 256 // a power of two
const KEPT_KEYS = 32
const KEPT_KEY_LENGTH = 64
const shapes = new Array<KeyShape | undefined>(SLOTS).fill(undefined)

/** Sorts keys by UTF-16 code unit, from memory where it can; `keys` must not be empty. */
export function shapeOf(keys: readonly string[]): KeyShape {
  const slot = slotOf(keys)
  const known = shapes[slot]
  if (known !== undefined && sameKeys(known.keys, keys)) return known
  const shape = {
    keys,
    sorted: keys.slice().sort(),
    hasDigits: keys.some(startsWithDigit),
    leads: undefined,
  }
  if (keys.length <= KEPT_KEYS && keys.every(isShort)) shapes[slot] = shape
  return shape
}

/** Looks at a few keys only: a collision costs a sort, nothing else. */
function slotOf(keys: readonly string[]): number {
  let sum = keys.length
  for (let i = 0; i < keys.length && i < 8; i++) {
    const key = keys[i] as string
    sum = (sum * 31 + key.length * 7 + key.charCodeAt(0)) | 0
  }
  return (sum ^ (sum >> 8)) & (SLOTS - 1)
}

/** What to write before each value: `{"a":` for the first key in order, `,"b":` for the others. */
export function leadsOf(shape: KeyShape): readonly string[] {
  const leads = shape.sorted.map((key, i) => `${i === 0 ? '{' : ','}${JSON.stringify(key)}:`)
  shape.leads = leads
  return leads
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function isShort(key: string): boolean {
  return key.length <= KEPT_KEY_LENGTH
}

function startsWithDigit(key: string): boolean {
  const code = key.charCodeAt(0)
  return code >= 48 && code <= 57
}
