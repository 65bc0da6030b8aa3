import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import type { HistoryItem } from '../../records/history-item.ts'
import type { EntryOf } from '../../store/entry.ts'
import type { Store } from '../../store/store.ts'
import { shownId } from '../log/call-state.ts'
import { factOf } from '../log/fact.ts'
import { LogState } from '../log/log-state.ts'
import { History } from './history.ts'
import { presentationOf } from './presentation.ts'
import { type PreparedRequest, TurnRequest } from './turn-request.ts'
import { VisibleCalls } from './visible-calls.ts'

/** What a request showed of its conversation, read back from the log. */
export interface ShownItems {
  readonly items: readonly HistoryItem[]
  /** True when something that it showed was not stored. */
  readonly isRedacted: boolean
}

/** Rebuilds the history that a request showed, by the same code that made the request. */
export async function shownItems(
  store: Store,
  conversation: string,
  call: EntryOf<'model-call'>,
  given: {
    /** The key of its envelopes. */
    readonly key: Uint8Array
    readonly restore: RestoreContext
    readonly context: PreparedRequest['context']
  },
): Promise<ShownItems> {
  const { upTo = call.seq - 1 } = call.data
  const presentation = presentationOf(given.key)
  const state = new LogState()
  const visible = new VisibleCalls()
  const history = new History(presentation, (record) => visible.showHandle(shownId(record)))
  let isRedacted = call.redacted !== undefined
  for await (const entry of store.entries(conversation)) {
    if (entry.seq > call.seq) break
    const isShown = entry.seq <= upTo
    // What an earlier try of the same request has shed is stored behind what it shows.
    if (!isShown && entry.kind !== 'model-call') continue
    const facts = [factOf(entry, given.restore)]
    state.apply(facts, entry.seq)
    history.apply(facts, entry.seq)
    if (!isShown) continue
    visible.apply(facts, entry.seq)
    if (entry.redacted !== undefined && entry.kind !== 'turn-start') isRedacted = true
  }
  for (const { id, item } of given.context) history.stage({ kind: 'item', id, item })
  await history.render()
  const length = () => upTo
  const rest = { instructions: undefined, budget: undefined, length }
  const request = new TurnRequest({ ...rest, state, history, visible, presentation })
  await request.prepare(undefined, () => {})
  return { items: request.items, isRedacted }
}
