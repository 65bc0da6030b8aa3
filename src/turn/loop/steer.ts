import { Message } from '../../records/message.ts'
import type { QueuedRow } from '../../store/feed-driver.ts'
import { askStore } from '../limits/failure.ts'
import { queuedInput } from './queued-input.ts'
import type { Turn } from './turn.ts'

/**
 * Takes messages that were sent to the turn while it runs: each becomes a message of the user, once. Gives true if there
 * were some. Its id is that of its row, so that a message that was stored before a crash is not taken again.
 */
export async function takeSteered(turn: Turn): Promise<boolean> {
  const { settings, log, steering, interruption } = turn
  const { store, clock } = settings
  const { feed } = store
  if (feed === undefined || !steering.isAsked || interruption.signal.aborted) return false
  steering.isAsked = false
  const { queued } = await askStore(() => feed.requests(log.id, clock.now()))
  let hasTaken = false
  for (const row of queued) {
    const { turnId: id, mode } = row
    if (mode !== 'steer') continue
    const known = await askStore(() => store.get(log.id, 'message', id))
    const said = known === undefined ? messageOf(turn, row) : undefined
    if (said !== undefined) {
      await log.commit([{ kind: 'message', message: said }])
      hasTaken = true
    }
    await askStore(() => feed.dequeue(log.id, id))
  }
  return hasTaken
}

/** The message of a row. One that cannot be read is reported and taken off the queue: it must not fail this turn. */
function messageOf({ settings, events }: Turn, row: QueuedRow): Message | undefined {
  try {
    const { message, attachments } = queuedInput(row, settings.spool)
    return new Message({
      id: row.turnId,
      role: 'user',
      ...(message !== '' && { content: message }),
      attachments: [...attachments],
      createdAt: settings.clock.now(),
    })
  } catch (error) {
    events.error(error, 'read')
    return undefined
  }
}
