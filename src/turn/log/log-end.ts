import type { HistoryItem } from '../../records/history-item.ts'
import { spokenText } from '../../records/spoken-text.ts'
import type { TurnStatus } from '../limits/outcome.ts'
import { type Fact, NO_ANSWER } from './fact.ts'

/** How a log ends. */
export type LogEnd =
  /** The last turn wrote its end. */
  | { readonly is: 'ended'; readonly status: TurnStatus }
  /** The last turn wrote nothing but its start; the one before it ended like `before`. */
  | { readonly is: 'silent'; readonly before: TurnStatus | undefined }
  /** The last turn wrote something and no end. `isCut` when its last response is not a whole answer. */
  | { readonly is: 'broken-off'; readonly isCut: boolean }

export const EMPTY_LOG: LogEnd = { is: 'silent', before: undefined }

/** The end of a log after one more fact. */
export function nextEnd(end: LogEnd, fact: Fact): LogEnd {
  switch (fact.kind) {
    case 'turn-start':
      return end.is === 'ended' ? { is: 'silent', before: end.status } : end
    case 'turn-end':
      // A turn that wrote nothing and did not complete changes nothing.
      if (end.is === 'silent' && fact.end.status !== 'completed') return end
      return { is: 'ended', status: fact.end.status }
    case 'message':
    case 'thought':
    case 'item':
    case 'call':
      return { is: 'broken-off', isCut: false }
    case 'note':
      return fact.note.code === NO_ANSWER ? { is: 'broken-off', isCut: true } : end
    default:
      return end
  }
}

/** Whether the previous turn has its answer, so that nothing is left to do. */
export function isAnswered(end: LogEnd, items: readonly HistoryItem[]): boolean {
  if (end.is === 'ended') return end.status === 'completed'
  if (end.is === 'silent') return end.before === 'completed'
  return !end.isCut && endsInAnswer(items)
}

/** Whether the previous process died before its turn had written anything. */
export const diedEarly = (end: LogEnd): boolean =>
  end.is === 'silent' && (end.before ?? 'completed') === 'completed'

/** The text of the last response. */
export function lastAnswer(items: readonly HistoryItem[]): string {
  const response = items.at(-1)?.response
  let text = ''
  for (const item of items) {
    if (item.type !== 'message' || item.role !== 'assistant' || item.response !== response) continue
    text += spokenText(item.parts)
  }
  return text
}

/** Whether a history ends in a whole answer, although no end of the turn was written. */
export function endsInAnswer(items: readonly HistoryItem[]): boolean {
  const last = items.at(-1)
  if (last?.response === undefined) return false
  const response = items.filter((item) => item.response === last.response)
  const isPlain = response.every(({ type }) => type !== 'call' && type !== 'openCall')
  return isPlain && response.some((item) => item.type === 'message' && item.role === 'assistant')
}
