/** One piece of work; an exclusive one runs while nothing else does. */
export interface Job {
  readonly exclusive: boolean
  run(): Promise<void>
}

/**
 * Runs jobs in the order given, at most `concurrency` at once. An exclusive job waits for the jobs before it and delays the
 * jobs after it. An error of a job goes to `onFault` at once, and is thrown after all jobs have ended, so that none is
 * left running.
 */
export async function runJobs(
  jobs: readonly Job[],
  concurrency: number,
  onFault: (error: unknown) => void = () => {},
): Promise<void> {
  const faults: unknown[] = []
  const running = new Set<Promise<void>>()
  const run = async (job: Job) => {
    try {
      await job.run()
    } catch (error) {
      faults.push(error)
      onFault(error)
    }
  }
  const start = (job: Job) => {
    const work = run(job).then(() => void running.delete(work))
    running.add(work)
  }
  for (const job of jobs) {
    while (running.size >= (job.exclusive ? 1 : concurrency)) await Promise.race(running)
    start(job)
    if (job.exclusive) await Promise.all(running)
  }
  await Promise.all(running)
  if (faults.length > 0) throw faults[0]
}
