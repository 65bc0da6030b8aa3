import type { FeedEvent, FeedToolCall } from '../../store/feed/feed-event.ts'
import {
  briefArgs,
  errorText,
  nameText,
  oneLine,
  progressText,
  settlementSign,
  settlementWord,
} from '../terminal/call-text.ts'
import { joinToWidth } from '../terminal/cut-to-width.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Screen } from '../terminal/screen.ts'

/** Shows the events of a feed, stored and live. */
export class FeedView {
  readonly #screen: Screen
  readonly #paint: Paint
  readonly #tools = new Map<string, string>()
  /** How much of each text was shown. */
  readonly #shown = new Map<string, string>()
  readonly #running = new Map<string, string>()

  constructor(screen: Screen, paint: Paint) {
    this.#screen = screen
    this.#paint = paint
  }

  show(event: FeedEvent): void {
    const { dim, yellow } = this.#paint
    switch (event.type) {
      case 'message':
        return this.#message(event)
      case 'toolCall':
        return this.#call(event)
      case 'progress':
        this.#running.set(
          event.toolCallId,
          `${oneLine(event.tool, 64)} ${progressText(event.update)}`,
        )
        return this.#redraw()
      case 'gateOpened': {
        const { id, tool = '', args } = event.gate
        const call = `${oneLine(tool, 64)} ${briefArgs(args ?? {}, () => undefined)}`.trim()
        return this.#line(yellow(`? ${call} waits for a decision: gate ${nameText(id)}`))
      }
      case 'gateDecided': {
        const { id, state, decision } = event.gate
        const by = event.decidedBy === undefined ? '' : ` by ${oneLine(event.decidedBy, 64)}`
        return this.#line(dim(`  gate ${nameText(id)}: ${decision?.verdict ?? state}${by}`))
      }
      case 'rewind':
        return this.#line(dim('  asked again: the last question and its answer no longer count'))
      case 'summary':
        return this.#line(
          dim('  the beginning of the conversation is shown as a summary from here on'),
        )
      case 'warning':
        return this.#line(yellow(`! ${oneLine(event.message, 300)}`))
      case 'turnEnd': {
        const why = event.reason === undefined ? '' : `: ${oneLine(event.reason.message, 300)}`
        this.#running.clear()
        this.#redraw()
        return this.#line(dim(`${event.status}${why}`))
      }
      default:
    }
  }

  /** Ends the last line, and removes the lines that still move. */
  end(): void {
    this.#screen.endText()
    this.#screen.clear()
  }

  #message(event: FeedEvent & { readonly type: 'message' }): void {
    if ('role' in event && event.role === 'user') {
      this.#line(this.#paint.bold(`> ${oneLine(event.text, 1000)}`))
      return
    }
    const { id } = event
    const before = this.#shown.get(id) ?? ''
    const now = event.text ?? before + event.delta
    this.#shown.set(id, now)
    // Text that was changed before it was stored is shown again, whole.
    const isAdded = now.startsWith(before)
    if (!isAdded) this.#screen.endText()
    const added = isAdded ? now.slice(before.length) : now
    // Indented, so that no line of the model looks like a line of ours.
    const start = (before === '' || !isAdded) && added !== '' ? '  ' : ''
    this.#screen.text(start + added.replaceAll('\n', '\n  '))
    if (event.isComplete === true) this.#screen.endText()
  }

  #call(call: FeedToolCall): void {
    const { id, tool, args, settlement = 'ok' } = call
    this.#tools.set(id, tool)
    const head = `${this.#paint.bold(oneLine(tool, 64))} ${briefArgs(args, (of) => this.#tools.get(of))}`
    if (!call.isComplete) {
      this.#running.set(id, head)
      return this.#redraw()
    }
    this.#running.delete(id)
    this.#redraw()
    const word = settlement === 'ok' ? '' : settlementWord(settlement, this.#paint)
    const line = `${settlementSign(settlement, this.#paint)} ${head.trimEnd()}`
    this.#line(joinToWidth(line, word, this.#screen.columns))
    if (call.isError) this.#line(`  ${this.#paint.dim(errorText(call.results))}`)
  }

  #line(text: string): void {
    this.#screen.endText()
    this.#screen.line(text)
  }

  #redraw(): void {
    this.#screen.live([...this.#running.values()].map((line) => `  ${line}`))
  }
}
