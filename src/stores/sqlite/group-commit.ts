import { setImmediate as nextRound } from 'node:timers/promises'
import type { Sqlite } from './sqlite-database.ts'
import { asStoreError, isBusy } from './sqlite-errors.ts'

/** How many pieces of work share a commit at most, because the commit blocks the event loop. */
const MAX_GROUP = 64

interface Task {
  readonly what: string
  readonly work: (sqlite: Sqlite) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Settled = { readonly value: unknown } | { readonly error: unknown }

/** Runs work on an open database, waiting where it is locked; throws our own errors. */
type Runner = <T>(what: string, work: (sqlite: Sqlite) => T) => Promise<T>

export interface GroupCommit {
  run<T>(what: string, work: (sqlite: Sqlite) => T): Promise<T>
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>
}

/**
 * Joins the work of one round of the event loop, of any number of conversations, into one transaction: the
 * sync of the disk is nearly the whole cost of a commit. Each piece succeeds or fails by itself, may run more
 * than once, and resolves only when it is durable.
 */
export function groupCommit(transaction: Runner): GroupCommit {
  const waiting: Task[] = []
  let flushing: Promise<void> | undefined

  const flush = async () => {
    await nextRound()
    while (waiting.length > 0) {
      await commit(waiting.splice(0, MAX_GROUP))
      await nextRound()
    }
    flushing = undefined
  }

  const commit = async (tasks: readonly Task[]) => {
    const [only] = tasks
    if (tasks.length === 1 && only !== undefined) return alone(only)
    let outcomes: readonly Settled[]
    try {
      outcomes = await transaction('commit', (sqlite) => tasks.map((task) => apart(sqlite, task)))
    } catch (error) {
      // One piece made SQLite roll back the whole group. Each runs alone now, so that only that one fails.
      if (isBusy((error as Error).cause)) for (const task of tasks) task.reject(error)
      else for (const task of tasks) await alone(task)
      return
    }
    tasks.forEach((task, index) => {
      const outcome = outcomes[index] as Settled
      if ('error' in outcome) task.reject(asStoreError(outcome.error, task.what))
      else task.resolve(outcome.value)
    })
  }

  const alone = (task: Task) => transaction(task.what, task.work).then(task.resolve, task.reject)

  return {
    run: <T>(what: string, work: (sqlite: Sqlite) => T) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ what, work, resolve: resolve as (value: unknown) => void, reject })
        flushing ??= flush()
      }),
    idle: async () => flushing,
  }
}

/** Runs one piece so that it can be undone by itself. */
function apart(sqlite: Sqlite, { work }: Task): Settled {
  sqlite.run('SAVEPOINT piece')
  try {
    const value = work(sqlite)
    sqlite.run('RELEASE piece')
    return { value }
  } catch (error) {
    // Throws when SQLite has rolled everything back, as it does when the disk is full.
    sqlite.run('ROLLBACK TO piece')
    sqlite.run('RELEASE piece')
    return { error }
  }
}
