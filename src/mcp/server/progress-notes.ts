import type { ServerContext } from '@modelcontextprotocol/server'
import { brief } from '../../core/error/cut-text.ts'
import type { TurnHandle } from '../../turn/turn-handle.ts'
import { isJsonObject } from '../client/safe-schema.ts'

/** So many notes of a call go out at once; from then on there is a pause between them. */
const FREE_NOTES = 100
const PAUSE_MS = 100
const MAX_TEXT = 500

/** Passes the progress of handlers on to a client that wants it. */
export async function tellProgress(turn: TurnHandle, { mcpReq }: ServerContext): Promise<void> {
  const { _meta: meta } = mcpReq
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return
  const notes = new ProgressNotes()
  try {
    for await (const event of turn) {
      const note = event.type === 'progress' ? notes.next(event.update, Date.now()) : undefined
      if (note === undefined) continue
      const params = { progressToken, ...note }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
  } catch {
    // The outcome has the error.
  }
}

interface ProgressNote {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Makes notes of the updates of one call: each is further than the one before, and a flood is thinned out. */
export class ProgressNotes {
  #count = 0
  #progress = Number.NEGATIVE_INFINITY
  #time = 0

  /** The note for an update; undefined if it is left out. */
  next(update: unknown, time: number): ProgressNote | undefined {
    if (this.#count >= FREE_NOTES && time - this.#time < PAUSE_MS) return undefined
    const note = noteOf(update, Math.max(this.#progress, 0) + 1)
    if (note.progress <= this.#progress) return undefined
    this.#count += 1
    this.#progress = note.progress
    this.#time = time
    return note
  }
}

/** A note. An update without a number counts as one step. */
function noteOf(update: unknown, step: number): ProgressNote {
  if (isJsonObject(update) && Number.isFinite(update['progress'])) {
    const { progress, total, message } = update
    return {
      progress: progress as number,
      ...(Number.isFinite(total) && { total: total as number }),
      ...(typeof message === 'string' && { message: brief(message, MAX_TEXT) }),
    }
  }
  return { progress: step, message: brief(textOf(update), MAX_TEXT) }
}

/** An update as a text; an empty one for what is not JSON. */
function textOf(update: unknown): string {
  try {
    return typeof update === 'string' ? update : (JSON.stringify(update) ?? '')
  } catch {
    return ''
  }
}
