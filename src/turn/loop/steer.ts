import { Message } from '../../records/message.ts'
import { askStore } from '../limits/failure.ts'
import { queuedInput } from './queued-input.ts'
import type { Turn } from './turn.ts'

/**
 * Takes messages that were sent to the turn while it runs: each becomes a message of the user, once. Gives true if there
 * were some. Its id is that of its row, so that a message that was stored before a crash is not taken again.
 */
export async function takeSteered(turn: Turn): Promise<boolean> {
  const { settings, log, steering, interruption } = turn
  const { store, spool, clock } = settings
  const { feed } = store
  if (feed === undefined || !steering.isAsked || interruption.signal.aborted) return false
  steering.isAsked = false
  const { queued } = await askStore(() => feed.requests(log.id, clock.now()))
  let hasTaken = false
  for (const { turnId: id, mode, body } of queued) {
    if (mode !== 'steer') continue
    const known = await askStore(() => store.get(log.id, 'message', id))
    if (known === undefined) {
      const { message, attachments } = queuedInput(body, spool)
      const content = message === '' ? {} : { content: message }
      const createdAt = clock.now()
      const said = new Message({
        id,
        role: 'user',
        ...content,
        attachments: [...attachments],
        createdAt,
      })
      await log.commit([{ kind: 'message', message: said }])
      hasTaken = true
    }
    await askStore(() => feed.dequeue(log.id, id))
  }
  return hasTaken
}
