import type { TurnRunner } from '../../turn/turn-runner.ts'
import { showDuration } from '../terminal/amounts.ts'
import { oneLine, progressText } from '../terminal/call-text.ts'
import type { Io } from '../terminal/io.ts'
import { type Paint, paintFor } from '../terminal/paint.ts'
import { quietKeys } from '../terminal/quiet-keys.ts'
import { Screen } from '../terminal/screen.ts'

const TICK_MS = 200

/** Shows on the terminal's standard error that a call runs, and how far it is. Nothing of it stays. */
export class CallView {
  readonly #io: Io
  readonly #screen: Screen
  readonly #paint: Paint
  #timer: ReturnType<typeof setInterval> | undefined
  #release = () => {}
  #progress = ''

  constructor(io: Io) {
    this.#io = { ...io, stdout: io.stderr }
    this.#screen = new Screen(this.#io)
    this.#paint = paintFor(this.#io)
  }

  attach(runner: TurnRunner): void {
    runner.on('toolCall', ({ tool, isComplete }) => {
      if (isComplete) this.stop()
      else this.#start(tool)
    })
    runner.observe('toolProgress', ({ update }) => {
      this.#progress = progressText(update)
    })
  }

  /** Stands still while a person is asked, who may type. */
  async still<T>(ask: () => Promise<T>): Promise<T> {
    this.stop()
    return ask()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#screen.clear()
    this.#release()
    this.#release = () => {}
  }

  #start(tool: string): void {
    this.stop()
    this.#release = quietKeys(this.#io)
    const startedAt = performance.now()
    this.#progress = ''
    this.#timer = setInterval(() => {
      const time = showDuration(performance.now() - startedAt)
      const shown = `${this.#paint.bold(oneLine(tool, 64))} ${time} ${this.#progress}`
      this.#screen.live([shown.trimEnd()])
    }, TICK_MS)
  }
}
