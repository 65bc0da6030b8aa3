import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { atMost } from './at-most.ts'
import { connectionClosed, isCutOff } from './postgres-errors.ts'
import { type Queries, queriesOn } from './postgres-queries.ts'
import type { Session } from './postgres-session.ts'

/** Connections to share. Work waits, for any time, until one is free. */
export interface Pool {
  read<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  end(): Promise<void>
}

/** How long the end waits for what is under way. */
const END_MS = 5000

/** Opens sessions as they are needed, and another one in the place of one that was lost. */
export function sessionPool(open: () => Session, size: number): Pool {
  const limited = atMost(size)
  const sessions = new Set<Session>()
  const idle: Session[] = []
  const running = new Set<Promise<unknown>>()
  let hasEnded = false

  const take = (): Session => {
    if (hasEnded) throw connectionClosed()
    for (let session = idle.pop(); session !== undefined; session = idle.pop()) {
      if (!session.isLost) return session
      drop(session)
    }
    const session = open()
    sessions.add(session)
    return session
  }
  const drop = (session: Session) => {
    sessions.delete(session)
    void session.end()
  }
  const use = <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const run = limited(async () => {
      const session = take()
      try {
        return await work(session)
      } finally {
        if (session.isLost) drop(session)
        else idle.push(session)
      }
    })
    const settled = run.catch(() => undefined).finally(() => running.delete(settled))
    running.add(settled)
    return run
  }

  return {
    read: (work) => use(work),
    transaction: (work) => use((session) => session.transaction(work)),
    async end() {
      const over = new AbortController()
      const waited = sleep(END_MS, undefined, { signal: over.signal }).catch(() => undefined)
      await Promise.race([Promise.all(running), waited])
      over.abort()
      hasEnded = true
      await Promise.all([...sessions].map((session) => session.end()))
    },
  }
}

/**
 * The connections of a client that belongs to the application. Never more than it has are asked for at a
 * time: it would send them one behind another, and forgets to reserve a connection that is full by then.
 */
export function borrowedPool(client: Sql): Pool {
  const limited = atMost(client.options.max)
  return {
    read: (work) => limited(() => work(queriesOn(client))),
    transaction: <T>(work: (queries: Queries) => Promise<T>) =>
      limited(async () => {
        const begun = client.begin((tx) => work(queriesOn(tx)).catch(whenRolledBack))
        return (await begun) as T
      }),
    end: async () => undefined,
  }
}

/**
 * Never settles if the connection is gone. The client rejects the transaction anyway. If this settled, it would
 * also send a ROLLBACK without a connection, which ends the process.
 */
async function whenRolledBack(failure: unknown): Promise<never> {
  if (isCutOff(failure)) await new Promise(() => undefined)
  throw failure
}
