/** From this many keys on, sorting by one code unit after the other beats comparing whole keys. */
const MANY = 1024
const FEW = 24
/** Code units that have a bucket of their own; one more is for keys that have ended. */
const UNITS = 256
/** Keys that agree further than this are left to the built-in sort, which bounds the recursion. */
const DEEPEST = 64

/** Sorts different keys in place by UTF-16 code unit, as the built-in sort does, faster when there are many. */
export function sortKeys(keys: string[]): string[] {
  if (keys.length < MANY) return keys.sort()
  sortRange(keys, new Array<string>(keys.length), 0, keys.length, 0)
  return keys
}

/** Sorts `keys[low]` up to `keys[high]`, which agree in their first `at` code units (radix sort). */
function sortRange(keys: string[], spare: string[], low: number, high: number, at: number): void {
  if (high - low <= FEW) {
    insert(keys, low, high)
    return
  }
  const starts = bucketStarts(keys, low, high, at)
  if (starts === undefined || at === DEEPEST) {
    const sorted = keys.slice(low, high).sort()
    for (let i = 0; i < sorted.length; i++) keys[low + i] = sorted[i] as string
    return
  }
  const next = starts.slice()
  for (let i = low; i < high; i++) {
    const key = keys[i] as string
    const bucket = bucketOf(key, at)
    const slot = next[bucket] as number
    spare[slot] = key
    next[bucket] = slot + 1
  }
  for (let i = low; i < high; i++) keys[i] = spare[i] as string
  // The first bucket holds the one key that ended here.
  for (let bucket = 1; bucket <= UNITS; bucket++) {
    const start = starts[bucket] as number
    const end = starts[bucket + 1] as number
    if (end - start > 1) sortRange(keys, spare, start, end, at + 1)
  }
}

/** Where each bucket starts, and where the last one ends; nothing where a key has a unit without bucket. */
function bucketStarts(
  keys: readonly string[],
  low: number,
  high: number,
  at: number,
): Uint32Array | undefined {
  const starts = new Uint32Array(UNITS + 2)
  for (let i = low; i < high; i++) {
    const bucket = bucketOf(keys[i] as string, at)
    if (bucket > UNITS) return undefined
    starts[bucket + 1] = (starts[bucket + 1] as number) + 1
  }
  starts[0] = low
  for (let i = 1; i < starts.length; i++) {
    starts[i] = (starts[i] as number) + (starts[i - 1] as number)
  }
  return starts
}

function bucketOf(key: string, at: number): number {
  return at < key.length ? key.charCodeAt(at) + 1 : 0
}

function insert(keys: string[], low: number, high: number): void {
  for (let i = low + 1; i < high; i++) {
    const key = keys[i] as string
    let slot = i
    while (slot > low && key < (keys[slot - 1] as string)) {
      keys[slot] = keys[slot - 1] as string
      slot--
    }
    keys[slot] = key
  }
}
