import type { LiveFeed } from '../../store/feed/live-feed.ts'
import { shareFeed } from '../../store/feed/share-feed.ts'
import type { Turn } from './turn.ts'

/** How often a turn looks what other processes ask of it. */
const LOOK_MS = 800

/** A running turn, as other processes reach it. */
export interface Pulse {
  /** Looks once before the turn works, if it continues another one. */
  begin(): Promise<void>
  end(): Promise<void>
}

/** Looks, while a turn runs, whether another process follows it or wants to stop it. A store that fails changes nothing. */
export function takePulse(
  { settings, log, events, interruption, steering, opened }: Turn,
  live: LiveFeed,
): Pulse {
  const { feed } = settings.store
  if (feed === undefined) return { begin: async () => undefined, end: async () => undefined }
  const { id: conversation, epoch } = log
  // A stop for a turn whose process died is meant for the one that continues it.
  const mine = [events.origin.turnId, ...opened.chain]
  const now = () => settings.clock.now()
  const shared = shareFeed(feed, live, { conversation, epoch, now })
  let isOver = false
  const look = async () => {
    const { followers, stops, queued } = await feed.requests(conversation, now())
    if (isOver) return
    shared.toFollowers(followers.length > 0)
    if (stops.some((stop) => mine.includes(stop))) interruption.stop()
    if (queued.some(({ mode }) => mode === 'steer')) steering.ask()
  }
  let isLooking = false
  const lookOnce = async () => {
    if (isLooking) return
    isLooking = true
    await look().catch(() => undefined)
    isLooking = false
  }
  const timer = setInterval(() => void lookOnce(), LOOK_MS)
  if (typeof timer === 'object') timer.unref()
  return {
    begin: () => (opened.chain.length > 0 ? lookOnce() : Promise.resolve()),
    async end() {
      isOver = true
      clearInterval(timer)
      await shared.close()
      if (!interruption.signal.aborted) return
      for (const turnId of mine) await feed.unstop(conversation, turnId).catch(() => undefined)
    },
  }
}
