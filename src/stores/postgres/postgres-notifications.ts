import type { Sql } from 'postgres'

type OnPayload = (payload: string) => void

/** The notifications of one channel, on a connection of their own while there are listeners. */
export interface Notifications {
  readonly channel: string
  /** Listens; returns a function that stops it. A server that does not let us listen is polled by the caller. */
  on(listener: OnPayload): Promise<() => void>
  close(): Promise<void>
}

/** `open` gives a client, and says whether it is ours to close. */
export function postgresNotifications(
  channel: string,
  open: () => Promise<{ readonly client: Sql; readonly isOurs: boolean }>,
): Notifications {
  const listeners = new Set<OnPayload>()
  let listening: Promise<() => Promise<void>> | undefined

  const listen = async () => {
    const { client, isOurs } = await open()
    const end = async () => {
      if (isOurs) await client.end({ timeout: 1 }).catch(() => undefined)
    }
    try {
      const { unlisten } = await client.listen(channel, (payload) => {
        for (const listener of listeners) listener(payload)
      })
      return async () => {
        await unlisten().catch(() => undefined)
        await end()
      }
    } catch {
      await end()
      return async () => undefined
    }
  }

  return {
    channel,
    async on(listener) {
      listeners.add(listener)
      listening ??= listen()
      await listening
      return () => void listeners.delete(listener)
    },
    async close() {
      listeners.clear()
      const stop = await listening?.catch(() => undefined)
      listening = undefined
      await stop?.()
    },
  }
}
