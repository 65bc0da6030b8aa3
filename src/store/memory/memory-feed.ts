import type { FeedDriver, QueuedRow } from '../feed-driver.ts'

/** What the holder of one conversation is asked for. */
interface Asked {
  readonly stops: Set<string>
  readonly queue: Map<string, QueuedRow>
}

/** Requests in memory. All readers are in this process, so that nothing has to be sent. */
export function memoryFeed(exists: (conversation: string) => boolean) {
  const asked = new Map<string, Asked>()
  const of = (conversation: string): Asked => {
    const known = asked.get(conversation) ?? { stops: new Set(), queue: new Map() }
    if (exists(conversation)) asked.set(conversation, known)
    return known
  }
  const feed: FeedDriver = {
    announce: async () => undefined,
    async requests(conversation) {
      const { stops, queue } = asked.get(conversation) ?? {}
      return { followers: [], stops: [...(stops ?? [])], queued: [...(queue?.values() ?? [])] }
    },
    stop: async (conversation, turnId) => void of(conversation).stops.add(turnId),
    unstop: async (conversation, turnId) => void asked.get(conversation)?.stops.delete(turnId),
    async enqueue(conversation, row, most) {
      const { queue } = of(conversation)
      const { turnId, mode, until } = row
      const known = queue.get(turnId)
      if (known === undefined && queue.size >= most) return false
      queue.set(turnId, known === undefined ? row : { ...known, mode, until })
      return true
    },
    dequeue: async (conversation, turnId) => asked.get(conversation)?.queue.delete(turnId) ?? false,
    send: async () => undefined,
    tail: async () => async () => undefined,
    clear: async () => undefined,
  }
  return { feed, forget: (conversation: string) => void asked.delete(conversation) }
}
