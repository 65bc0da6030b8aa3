import type { ToolContext } from '../../tools/tool-context.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'

const MAX_UPDATES = 1_000
const PAUSE_MS = 50
const MAX_MESSAGE = 500

/** Passes a server's progress on: not too often, not too much, and only what progress has. */
export function progressTo(ctx: ToolContext): (update: unknown) => void {
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  return (update) => {
    const now = performance.now()
    if (!isJsonObject(update) || count === MAX_UPDATES || now - last < PAUSE_MS) return
    count += 1
    last = now
    const { progress, total, message } = update
    ctx.progress({
      ...(Number.isFinite(progress) && { progress: progress as number }),
      ...(Number.isFinite(total) && { total: total as number }),
      ...(typeof message === 'string' && { message: shownBriefly(message, MAX_MESSAGE) }),
    })
  }
}
