/** One piece of work; an exclusive one runs while nothing else does. */
export interface Job {
  readonly exclusive: boolean
  run(): Promise<void>
}

/**
 * Runs jobs in the order given, at most `concurrency` at once; an exclusive job waits for those before
 * it and holds up those behind it. A job settles its own failures; what still escapes one is thrown
 * after all have ended, so that none is left running unseen.
 */
export function runJobs(jobs: readonly Job[], concurrency: number): Promise<void> {
  const [only] = jobs
  if (jobs.length === 1 && only !== undefined) return only.run()
  return new Promise((resolve, reject) => {
    const faults: unknown[] = []
    let next = 0
    let running = 0
    let isAlone = false
    const startMore = () => {
      for (let job = jobs[next]; job !== undefined; job = jobs[next]) {
        if (running > 0 && (isAlone || job.exclusive || running >= concurrency)) return
        next++
        running++
        isAlone = job.exclusive
        job.run().then(ended, failed)
      }
      if (running > 0) return
      if (faults.length > 0) reject(faults[0])
      else resolve()
    }
    const ended = () => {
      running--
      startMore()
    }
    const failed = (error: unknown) => {
      faults.push(error)
      ended()
    }
    startMore()
  })
}
