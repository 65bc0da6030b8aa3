import type { DateTime } from 'luxon'
import type { ToolCall } from '../../records/tool-call.ts'
import type { TurnToolCallContent } from '../../records/turn-tool-call-content.ts'
import type { Middleware } from '../../turn/call/middleware.ts'
import type { TurnRunner } from '../../turn/turn-runner.ts'
import { showDuration } from '../terminal/amounts.ts'
import {
  briefArgs,
  errorText,
  oneLine,
  progressText,
  resultText,
  settlementSign,
  settlementWord,
} from '../terminal/call-text.ts'
import { joinToWidth } from '../terminal/cut-to-width.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const TICK_MS = 100

interface Running {
  readonly content: TurnToolCallContent
  readonly startedAt: number
  progress: string
}

/** Shows turns as they go: text as it streams, each call while it runs and when it has settled. */
export class TurnView {
  readonly #screen: Screen
  readonly #paint: Paint
  readonly #running = new Map<string, Running>()
  readonly #tools = new Map<string, string>()
  readonly #records = new Map<string, ToolCall>()
  #ticker: ReturnType<typeof setInterval> | undefined
  #frame = 0
  #streamed = ''

  constructor(screen: Screen, paint: Paint) {
    this.#screen = screen
    this.#paint = paint
  }

  /** Part of the runner: it knows the record before the stream completes the call. */
  readonly middleware: Middleware = {
    call: async (_subject, next) => {
      const call = await next()
      this.#records.set(call.id, call)
      return call
    },
  }

  /** Listens to a runner. */
  attach(runner: TurnRunner): void {
    const screen = this.#screen
    runner.observe('iterationStart', () => (this.#streamed = ''))
    runner.on('message', ({ delta }) => {
      this.#streamed += delta
      screen.text(delta)
    })
    runner.on('toolCall', (content) => this.#toolCall(content))
    runner.observe('toolProgress', ({ toolCallId, update }) => {
      const running = this.#running.get(toolCallId)
      if (running !== undefined) running.progress = progressText(update)
    })
    runner.observe('iterationEnd', () => screen.endText())
    runner.observe('warning', ({ message }) =>
      screen.line(this.#paint.yellow(`! ${oneLine(message, 300)}`)),
    )
  }

  /** Shows an answer that came all at once: not every executor streams. */
  answer(text: string): void {
    if (text !== '' && this.#streamed.trim() !== text.trim()) this.#screen.text(text)
    this.#screen.endText()
  }

  /** Removes the lines that still move. */
  stop(): void {
    clearInterval(this.#ticker)
    this.#ticker = undefined
    this.#running.clear()
    this.#screen.clear()
  }

  #toolCall(content: TurnToolCallContent): void {
    const { id, tool } = content
    this.#tools.set(id, tool)
    if (content.isComplete) {
      this.#running.delete(id)
      this.#redraw()
      for (const line of this.#settled(content)) this.#screen.line(line)
      return
    }
    this.#screen.endText()
    this.#running.set(id, { content, startedAt: Date.now(), progress: '' })
    this.#ticker ??= setInterval(() => this.#redraw(), TICK_MS)
    this.#redraw()
  }

  #redraw(): void {
    this.#frame++
    const sign = SPINNER[this.#frame % SPINNER.length] ?? ''
    this.#screen.live(
      [...this.#running.values()].map(({ content, startedAt, progress }) => {
        const time = showDuration(Date.now() - startedAt)
        return `${this.#paint.cyan(sign)} ${this.#head(content)} ${this.#paint.dim(`${time} ${progress}`)}`
      }),
    )
    if (this.#running.size > 0) return
    clearInterval(this.#ticker)
    this.#ticker = undefined
  }

  #head({ tool, args }: TurnToolCallContent): string {
    const shown = briefArgs(args, (id) => this.#tools.get(id))
    return `${this.#paint.bold(oneLine(tool, 64))} ${shown}`.trimEnd()
  }

  /** One line, and why below it where a call gave nothing. */
  #settled(content: TurnToolCallContent): string[] {
    const record = this.#records.get(content.id)
    const { settlement = 'ok' } = content
    const time = durationOf(content.createdAt, content.completedAt)
    const sign = settlementSign(settlement, this.#paint)
    const { columns } = this.#screen
    const head = `${sign} ${this.#head(content)}`
    const word = settlement === 'ok' ? '' : `${settlementWord(settlement, this.#paint)} `
    if (content.isError) {
      const line = joinToWidth(head, word + this.#paint.dim(time), columns)
      return [line, `  ${this.#paint.dim(errorText(content.results))}`]
    }
    const text = resultText(record?.inline ?? true, content.results)
    return [joinToWidth(head, word + this.#paint.dim(`${time}, ${text}`), columns)]
  }
}

function durationOf(from: DateTime, to: DateTime | undefined): string {
  return showDuration(to === undefined ? 0 : to.toMillis() - from.toMillis())
}
