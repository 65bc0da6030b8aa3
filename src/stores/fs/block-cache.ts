/** A few verified blocks of a store, so that neighbouring reads do not hash the same bytes again. */
export interface BlockCache {
  get(key: string): Uint8Array | undefined
  set(key: string, block: Uint8Array): void
}

/** Keeps the `size` blocks used last. */
export function blockCache(size: number): BlockCache {
  const blocks = new Map<string, Uint8Array>()
  const put = (key: string, block: Uint8Array) => {
    blocks.delete(key)
    blocks.set(key, block)
  }
  return {
    get(key) {
      const block = blocks.get(key)
      if (block !== undefined) put(key, block)
      return block
    },
    set(key, block) {
      put(key, block)
      const oldest = blocks.keys().next()
      if (blocks.size > size && !oldest.done) blocks.delete(oldest.value)
    },
  }
}
