import { visibleText } from '../text/visible-text.ts'
import { cutToWidth } from './cut-to-width.ts'
import type { Io } from './io.ts'

const REDRAW_MS = 60

/**
 * Lines that stay, text that streams, and on a terminal a few lines below them that change. Elsewhere
 * nothing is ever taken back, so piped output holds no control characters.
 */
export class Screen {
  readonly #io: Pick<Io, 'stdout' | 'env'>
  readonly #isLive: boolean
  #drawn = 0
  #live: readonly string[] = []
  #isMidLine = false
  #isBehindLine = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(io: Pick<Io, 'stdout' | 'env'>) {
    this.#io = io
    this.#isLive = io.stdout.isTTY === true && io.env['TERM'] !== 'dumb'
  }

  /** Writes a line that stays. Colours in it are ours; what strangers wrote has to be shown first. */
  line(text = ''): void {
    this.#erase()
    this.#io.stdout.write(`${this.#isMidLine ? '\n' : ''}${text}\n`)
    this.#isMidLine = false
    this.#isBehindLine = true
    this.#draw()
  }

  /** Writes text as it comes; escapes in it are shown, never obeyed. */
  text(delta: string): void {
    if (delta === '') return
    this.#erase()
    const gap = this.#isBehindLine && !this.#isMidLine ? '\n' : ''
    this.#io.stdout.write(gap + visibleText(delta))
    this.#isMidLine = !delta.endsWith('\n')
    this.#isBehindLine = false
  }

  /** Ends streamed text, so that whatever comes next begins a line of its own. */
  endText(): void {
    if (this.#isMidLine) this.#io.stdout.write('\n')
    this.#isMidLine = false
    this.#draw()
  }

  /** Replaces the changing lines; soon, not at once, because progress comes faster than eyes. */
  live(lines: readonly string[]): void {
    if (!this.#isLive) return
    this.#live = lines
    if (this.#isMidLine) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#erase()
      this.#draw()
    }, REDRAW_MS)
  }

  /** Takes the changing lines away. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#live = []
    this.#erase()
  }

  #erase(): void {
    if (this.#drawn > 0) this.#io.stdout.write(`\u001b[${this.#drawn}A\u001b[0J`)
    this.#drawn = 0
  }

  #draw(): void {
    if (this.#isMidLine || this.#live.length === 0) return
    // A terminal that does not know its width says 0.
    const columns = this.#io.stdout.columns || 80
    const lines = this.#live.map((line) => `${cutToWidth(line, columns)}\n`)
    this.#io.stdout.write(lines.join(''))
    this.#drawn = lines.length
  }
}
