import { visibleText } from '../../text/visible-text.ts'
import { columnsOf, isLive } from './columns.ts'
import { cutToWidth } from './cut-to-width.ts'
import type { Io } from './io.ts'
import { WordWrap, wrapLines } from './word-wrap.ts'

const REDRAW_MS = 60
/** The height of a terminal that does not say its own. */
const ROWS = 24

/**
 * Lines that stay, text that streams, and on a terminal a few lines below them that change. Elsewhere
 * nothing is ever taken back or broken, so piped output holds no control characters.
 */
export class Screen {
  readonly #io: Pick<Io, 'stdout' | 'env'>
  readonly #isLive: boolean
  readonly #wrap: WordWrap
  #drawn = 0
  #live: readonly string[] = []
  #isMidLine = false
  #isBehindLine = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(io: Pick<Io, 'stdout' | 'env'>) {
    this.#io = io
    this.#isLive = isLive(io)
    this.#wrap = new WordWrap(() => this.columns)
  }

  /** How wide a line may be; without limit outside a terminal. */
  get columns(): number {
    return columnsOf(this.#io)
  }

  /** Writes a line that stays. */
  line(text = ''): void {
    this.#erase()
    this.#endLine()
    this.#io.stdout.write(`${wrapLines(text, this.columns)}\n`)
    this.#isBehindLine = true
    this.#draw()
  }

  /** Writes text as it comes; escapes in it are shown, never obeyed. */
  text(delta: string): void {
    if (delta === '') return
    this.#erase()
    const gap = this.#isBehindLine && !this.#isMidLine ? '\n' : ''
    const shown = visibleText(delta)
    this.#io.stdout.write(gap + (this.#isLive ? this.#wrap.push(shown) : shown))
    this.#isMidLine = !delta.endsWith('\n')
    this.#isBehindLine = false
  }

  /** Ends streamed text, so that whatever comes next begins a line of its own. */
  endText(): void {
    this.#erase()
    this.#endLine()
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

  #endLine(): void {
    const held = this.#wrap.flush()
    if (this.#isMidLine) this.#io.stdout.write(`${held}\n`)
    this.#isMidLine = false
  }

  #erase(): void {
    // To the first column before anything else: a terminal shows pressed keys, such as `^C`, where it stands.
    if (this.#drawn > 0) this.#io.stdout.pass(`\r\u001b[${this.#drawn}A\u001b[0J`)
    this.#drawn = 0
  }

  #draw(): void {
    if (this.#isMidLine || this.#live.length === 0) return
    // Lines that scrolled off the top cannot be erased, so never draw more than the screen holds.
    const room = Math.max(1, (this.#io.stdout.rows || ROWS) - 2)
    const rest = this.#live.length - room
    const shown = rest > 0 ? [...this.#live.slice(0, room), `  and ${rest} more`] : this.#live
    // One column is left free: some terminals go to the next line as soon as the last one is written.
    const lines = shown.map((line) => `${cutToWidth(line, this.columns - 1)}\n`)
    this.#io.stdout.write(lines.join(''))
    this.#drawn = lines.length
  }
}
