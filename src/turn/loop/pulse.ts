import type { LiveFeed } from '../../store/feed/live-feed.ts'
import { shareFeed } from '../../store/feed/share-feed.ts'
import type { Turn } from './turn.ts'

/** How often a turn looks what other processes ask of it. */
const LOOK_MS = 800

/** A running turn, as other processes reach it. */
export interface Pulse {
  end(): Promise<void>
}

/** Looks, while a turn runs, whether another process follows it or wants to stop it. A store that fails changes nothing. */
export function takePulse({ settings, log, events, interruption }: Turn, live: LiveFeed): Pulse {
  const { feed } = settings.store
  if (feed === undefined) return { end: async () => undefined }
  const { id: conversation, epoch } = log
  const { turnId } = events.origin
  const now = () => settings.clock.now()
  const shared = shareFeed(feed, live, { conversation, epoch, now })
  let isOver = false
  const look = async () => {
    const { followers, stops } = await feed.requests(conversation, now())
    if (isOver) return
    shared.toFollowers(followers.length > 0)
    if (stops.includes(turnId)) interruption.stop()
  }
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void look()
      .catch(() => undefined)
      .finally(() => {
        isLooking = false
      })
  }, LOOK_MS)
  if (typeof timer === 'object') timer.unref()
  return {
    async end() {
      isOver = true
      clearInterval(timer)
      await shared.close()
      if (interruption.signal.aborted)
        await feed.unstop(conversation, turnId).catch(() => undefined)
    },
  }
}
