import type { HistoryItem } from '../../records/history-item.ts'
import { spokenText } from '../../records/spoken-text.ts'
import type { OpenText } from '../../store/feed/live-feed.ts'

/** The texts that streamed during one response: each stored text gets the id that it streamed under. */
export class TextStreams {
  readonly #open: OpenText[]

  constructor(open: readonly OpenText[]) {
    this.#open = [...open]
  }

  /** The id of the stream that brought an item; ask in wire order. Most wires do not name the item on its pieces. */
  idOf(item: HistoryItem): string | undefined {
    if (item.type !== 'message' && item.type !== 'thought') return undefined
    const text = item.type === 'thought' ? item.text : spokenText(item.parts)
    if (text === '') return undefined
    const mine = this.#open.filter(({ type }) => type === item.type)
    // A provider may correct a text at its end, so that no stream has exactly this one.
    const stream = mine.find((each) => each.text === text) ?? mine[0]
    if (stream === undefined) return undefined
    this.#open.splice(this.#open.indexOf(stream), 1)
    return stream.id
  }
}
