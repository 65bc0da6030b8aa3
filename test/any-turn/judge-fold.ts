import { isDeepStrictEqual } from 'node:util'
import type { RestoreContext } from '../../src/artifacts/restore-artifact.ts'
import { memorySpool } from '../../src/spool/memory-spool.ts'
import type { Entry, Summary } from '../../src/store/entry.ts'
import type { Store } from '../../src/store/store.ts'
import { envelopeKey } from '../../src/text/envelope-key.ts'
import { ConversationLog } from '../../src/turn/log/conversation-log.ts'
import { type Fact, factOf } from '../../src/turn/log/fact.ts'
import { LogState } from '../../src/turn/log/log-state.ts'
import { resultSpool } from '../../src/turn/log/small-results.ts'
import { History } from '../../src/turn/request/history.ts'
import { presentationOf } from '../../src/turn/request/presentation.ts'
import type { Ledger } from './ledger.ts'

/** A log while a turn commits to it, and every fact that its followers were given. */
interface Live {
  readonly log: ConversationLog
  readonly history: History
  readonly facts: Told[]
}

interface Told {
  readonly fact: Fact
  readonly seq: number
}

const lives = new Map<string, Live>()

/** How histories began that did not begin with the first entry. */
const begun = new WeakMap<History, Parameters<History['beginBehind']>>()
const { beginBehind } = History.prototype
History.prototype.beginBehind = function (...given) {
  begun.set(this, given)
  beginBehind.apply(this, given)
}

// A turn keeps its log to itself. Its history is the first to follow it: that is the moment to follow it too. The history
// itself is no use here: one that is asked after an abort no longer reads results.
const follow = ConversationLog.prototype.follow
ConversationLog.prototype.follow = function (follower) {
  follow.call(this, follower)
  if (!(follower instanceof History)) return
  const facts: Told[] = []
  lives.set(this.id, { log: this, history: follower, facts })
  follow.call(this, {
    apply: (more, seq) => void facts.push(...more.map((fact, at) => ({ fact, seq: seq + at }))),
  })
}

/** No turn of these conversations is compared: somebody else wrote to them, or their process died. */
export function forgetFolds(conversation: string): void {
  for (const id of lives.keys()) if (isOf(id, conversation)) lives.delete(id)
}

/** What turns know from committing is what the next process knows from reading. */
export async function judgeFold(
  ledger: Ledger,
  store: Store,
  conversation: string,
  keyOf: (id: string) => Uint8Array | undefined,
): Promise<void> {
  for (const [id, { log, history: first, facts: told }] of lives) {
    if (!isOf(id, conversation)) continue
    const there = await store.conversation(id)
    // A turn inside one that was aborted may still be at work.
    if (there === undefined || there.holder !== undefined) continue
    const secret = keyOf(id) ?? (await store.key(id))
    const state = new LogState()
    const behind = begun.get(first)
    const [live, read] = [told, []].map((facts) => {
      const history = new History(presentationOf(envelopeKey(secret, id)), () => {})
      if (facts === told && behind !== undefined) history.beginBehind(...behind)
      for (const { fact, seq } of facts) history.apply([fact], seq)
      return history
    }) as [History, History]
    const spool = resultSpool(store, store.spool ?? memorySpool())
    const entries: Entry[] = []
    const unread = new Set<unknown>()
    for await (const entry of store.entries(id)) {
      const isUnread = behind !== undefined && entry.seq <= behind[0].upTo
      if (isUnread && entry.kind === 'settlement') unread.add(entry.data['id'])
      const facts = [factOf(entry, { spool })]
      state.apply(facts, entry.seq)
      read.apply(facts, entry.seq)
      entries.push(entry)
    }
    // What a turn has seen is stored with its first response: before that, nothing rests on it.
    state.seeUnrecorded(log.state.unrecorded ?? 'developer')
    const [known, again] = [stateText(log.state), stateText(state, unread)]
    ledger.check(
      isDeepStrictEqual(known, again),
      `${id}: committed ${show(known)}, read ${show(again)}`,
    )
    await Promise.all([live.render(), read.render()])
    const [shown, shownAgain] = [live, read].map(shownBy)
    const isSame = isDeepStrictEqual(shown, shownAgain)
    ledger.check(isSame, `${id}: shown ${show(shown)}, after a restart ${show(shownAgain)}`)
    const summary = entries.findLast((entry) => entry.kind === 'summary')
    if (summary === undefined) continue
    const late = new History(presentationOf(envelopeKey(secret, id)), () => {})
    readBehind(late, summary.data, entries, { spool })
    await late.render()
    const shownLate = shownBy(late)
    const isSameLate = isDeepStrictEqual(shown, shownLate)
    ledger.check(isSameLate, `${id}: shown ${show(shown)}, read late ${show(shownLate)}`)
  }
  forgetFolds(conversation)
}

/** Reads a log from the end of what its last summary covers. */
function readBehind(
  history: History,
  summary: Summary,
  entries: readonly Entry[],
  restore: RestoreContext,
): void {
  const kept = (summary.keeps ?? []).flatMap((seq) => {
    const fact = factOf(entries[seq - 1] as Entry, restore)
    return fact.kind === 'message' ? [{ message: fact.message, seq }] : []
  })
  history.beginBehind(summary, kept)
  for (const entry of entries.slice(summary.upTo)) {
    history.apply([factOf(entry, restore)], entry.seq)
  }
}

const isOf = (id: string, conversation: string) =>
  id === conversation || id.startsWith(`${conversation}/`)

const show = (value: unknown) => JSON.stringify(value)

/**
 * A call that is open was heard of before it was stored; nothing else in a state depends on when it was read. A turn that
 * begins behind a summary has no records from before.
 */
const stateText = (
  { open, records, shown, taint, recent, end, doubts }: LogState,
  unread: ReadonlySet<unknown> = new Set(),
) =>
  plain({
    open: [...open].map(([id, { call, ...state }]) => {
      const { askedAt: _, isUnfinished = false, ...asked } = call
      return [id, { ...state, call: { ...asked, isUnfinished } }]
    }),
    records: records.filter(({ id }) => !unread.has(id)),
    shown: [...shown].flatMap(([id, record]) => (unread.has(record.id) ? [] : id)),
    taint,
    recent,
    end,
    doubts: doubts.flatMap(({ id }) => (unread.has(id) ? [] : id)),
  })

/** Arguments as text: the order of their keys goes into requests. */
const shownBy = (history: History) => ({
  handles: [...history.handles].sort(),
  base: history.base,
  items: history.items.map((item, at) => ({
    ...(plain(item) as object),
    isDropped: history.isDropped(at),
    args: show('args' in item ? item.args : null),
  })),
})

const plain = (value: unknown): unknown => JSON.parse(show(value))
