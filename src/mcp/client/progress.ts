import type { JsonObject } from '../../core/json/json.ts'
import type { ToolContext } from '../../tools/tool-context.ts'
import { isJsonObject } from './safe-schema.ts'
import { shownBriefly } from './stranger-text.ts'

const MAX_UPDATES = 1_000
const PAUSE_MS = 50
const MAX_MESSAGE = 500

/** Passes a server's progress on: not too often, not too much, and only what progress has. */
export class Progress {
  readonly #ctx: ToolContext
  #count = 0
  #last = Number.NEGATIVE_INFINITY
  #held: JsonObject | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ctx: ToolContext) {
    this.#ctx = ctx
  }

  readonly update = (update: unknown): void => {
    if (!isJsonObject(update)) return
    this.#held = update
    const wait = PAUSE_MS - (performance.now() - this.#last)
    if (wait <= 0) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), wait)
  }

  /** Passes on the newest update, if it is still held back. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#held === undefined || this.#count === MAX_UPDATES) return
    const { progress, total, message } = this.#held
    this.#held = undefined
    this.#count += 1
    this.#last = performance.now()
    this.#ctx.progress({
      ...(Number.isFinite(progress) && { progress: progress as number }),
      ...(Number.isFinite(total) && { total: total as number }),
      ...(typeof message === 'string' && { message: shownBriefly(message, MAX_MESSAGE) }),
    })
  }
}
