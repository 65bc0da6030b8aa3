import type { Appended } from '../../store/store.ts'

interface Waiting {
  readonly seq: number
  readonly run: () => void
}

/**
 * Runs what follows each append in the order of the log. Appends of parallel calls are under way side by side, and a
 * store may answer them in another order than it stored them.
 */
export class LogOrder {
  /** How many entries were followed. */
  length = 0
  #underWay = 0
  #waiting: Waiting[] = []

  /** Appends, and calls `apply` when everything before these entries has been applied. */
  async follow(
    append: () => Promise<Appended>,
    count: number,
    apply: (appended: Appended) => void,
  ): Promise<void> {
    this.#underWay++
    let appended: Appended
    try {
      appended = await append()
    } catch (error) {
      this.#underWay--
      this.#flush()
      throw error
    }
    this.#underWay--
    const { seq } = appended
    await new Promise<void>((resolve, reject) => {
      const run = () => {
        this.length = seq + count - 1
        try {
          apply(appended)
          resolve()
        } catch (error) {
          reject(error)
        }
      }
      this.#waiting.push({ seq, run })
      this.#flush()
    })
  }

  /** Runs what is next. If no append is under way, nothing else comes before what waits. */
  #flush(): void {
    this.#waiting.sort((a, b) => a.seq - b.seq)
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || (next.seq > this.length + 1 && this.#underWay > 0)) return
      this.#waiting.shift()
      next.run()
    }
  }
}
