/** A message that waits for a conversation that another turn holds. */
export interface QueuedRow {
  /** The id of the turn that the message is for. */
  readonly turnId: string
  /** `steer` goes to the turn that runs, `queue` starts a turn of its own. */
  readonly mode: 'queue' | 'steer'
  /** The input as JSON. */
  readonly body: string
  /** Until when its caller is known to live, in epoch milliseconds. */
  readonly until: number
}

/** What waits for the holder of a conversation. */
export interface FeedRequests {
  /** The readers in other processes. */
  readonly followers: readonly string[]
  /** The turns that were asked to stop. */
  readonly stops: readonly string[]
  /** In the order in which they came. */
  readonly queued: readonly QueuedRow[]
}

/**
 * What a database does so that processes can follow, stop and steer the turns of each other. A driver without it works:
 * its feeds are polled, and only the process of a turn can stop it.
 */
export interface FeedDriver {
  /** Says until when a reader follows a conversation, in epoch milliseconds; 0 takes it back. */
  announce(conversation: string, follower: string, until: number): Promise<void>
  /** What waits for the holder; followers only if their time is not over at `now`. */
  requests(conversation: string, now: number): Promise<FeedRequests>
  /** Asks the holder to stop a turn. */
  stop(conversation: string, turnId: string): Promise<void>
  /** The stop was obeyed, or its turn has ended. */
  unstop(conversation: string, turnId: string): Promise<void>
  /** Adds a message, or changes its mode and time. Gives false if `most` others wait already. */
  enqueue(conversation: string, row: QueuedRow, most: number): Promise<boolean>
  /** Removes a message; false if it is not there. */
  dequeue(conversation: string, turnId: string): Promise<boolean>
  /**
   * Sends a batch of streamed events to those who follow. An empty text says that there are new entries. It need not survive
   * a crash.
   */
  send(conversation: string, epoch: number, batch: string): Promise<void>
  /** Gives all batches since the last `clear`, then each new one; returns a function that stops it. */
  tail(conversation: string, onBatch: (batch: string) => void): Promise<() => Promise<void>>
  /** Forgets the batches of a holder. */
  clear(conversation: string, epoch: number): Promise<void>
}
