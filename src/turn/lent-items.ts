import type { HistoryItem } from '../records/history-item.ts'
import type { DispatchContext } from './dispatch-context.ts'

let lending = false

/**
 * The items of a context, or of whatever an application put in its place, for whoever reads them at once: the
 * turn's own list, which grows later, where anybody else gets a snapshot.
 */
export function lentItems(ctx: DispatchContext): readonly HistoryItem[] {
  lending = true
  try {
    return ctx.items
  } finally {
    lending = false
  }
}

/** Whether a context is asked for its items by somebody who only reads them, and at once. */
export const isLending = (): boolean => lending
