/** Tells everybody who listens that the list of tools changed: once for all changes of a moment. */
export class ToolChanges {
  readonly #listeners = new Set<() => void>()
  #isUnderWay = false

  /** Adds a listener, which must not throw. The function that is given back removes it. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(): void {
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    queueMicrotask(() => {
      this.#isUnderWay = false
      for (const listener of this.#listeners) listener()
    })
  }
}
