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
export async function runJobs(jobs: readonly Job[], concurrency: number): Promise<void> {
  const [only] = jobs
  if (jobs.length === 1 && only !== undefined) return only.run()
  const running = new Set<Promise<void>>()
  const faults: unknown[] = []
  for (const job of jobs) {
    while (running.size > 0 && (job.exclusive || running.size >= concurrency)) {
      await Promise.race(running)
    }
    const started: Promise<void> = job
      .run()
      .catch((error: unknown) => void faults.push(error))
      .finally(() => running.delete(started))
    running.add(started)
    if (job.exclusive) await started
  }
  await Promise.all(running)
  if (faults.length > 0) throw faults[0]
}
