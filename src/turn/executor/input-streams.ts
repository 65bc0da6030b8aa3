import { canonicalStringify } from '../../core/json/canonical.ts'
import type { CallItem, HistoryItem, OpenCallItem } from '../../records/history-item.ts'

interface InputStream {
  readonly id: string
  readonly tool: string
  readonly pieces: string[]
  isTaken: boolean
}

type Asked = Pick<CallItem, 'tool' | 'args' | 'rawArgs'>

/** The arguments that streamed during one response, so that each call can name the stream of its own. */
export class InputStreams {
  readonly #streams = new Map<string, InputStream>()

  add(id: string, tool: string, delta: string): void {
    const known = this.#streams.get(id)
    if (known !== undefined) known.pieces.push(delta)
    else this.#streams.set(id, { id, tool, pieces: [delta], isTaken: false })
  }

  /** Items whose calls name their streams. Ask in wire order: equal calls take equal streams one after the other. */
  named(items: readonly HistoryItem[]): readonly HistoryItem[] {
    if (this.#streams.size === 0) return items
    return items.map((item) => (isCall(item) ? { ...item, ...this.inputOf(item) } : item))
  }

  /** The stream that brought exactly these arguments. Most wires do not name the call on its pieces. */
  inputOf(call: Asked): { readonly inputId?: string } {
    for (const stream of this.#streams.values()) {
      if (stream.isTaken || (stream.tool !== call.tool && stream.tool !== '')) continue
      if (!holds(stream.pieces.join(''), call)) continue
      stream.isTaken = true
      return { inputId: stream.id }
    }
    return {}
  }
}

const isCall = (item: HistoryItem): item is CallItem | OpenCallItem =>
  item.type === 'call' || item.type === 'openCall'

/** Whether the text is these arguments: as JSON, as received, or as the one text that a custom tool takes. */
function holds(text: string, { args, rawArgs }: Asked): boolean {
  if (text === rawArgs || Object.values(args).includes(text)) return true
  try {
    return canonicalStringify(JSON.parse(text)) === canonicalStringify(args)
  } catch {
    return false
  }
}
