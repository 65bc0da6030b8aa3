import type { RestoreContext } from '../../artifacts/restore-artifact.ts'
import type { Message } from '../../records/message.ts'
import type { Entry, EntryKind, EntryOf, TurnStart } from '../../store/entry.ts'
import type { Gate } from '../../store/gate.ts'
import type { RunnerStore } from '../../store/store.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { backgroundResultIn, type Fact, factOf } from '../log/fact.ts'
import type { History } from '../request/history.ts'
import type { VisibleCalls } from '../request/visible-calls.ts'

/** Which turn reads a log. */
interface Reading {
  readonly store: RunnerStore
  readonly conversation: string
  readonly way: TurnStart['input']
  /** False for a turn that continues another, or asks its message again. */
  readonly isNew: boolean
  /** True for a turn that may need any part of the log. */
  readonly needsAll: boolean
  readonly restore: RestoreContext
  /** The gates of the conversation that wait. */
  readonly gates: readonly Gate[]
}

/** What follows the log of a turn. */
interface Readers {
  readonly log: ConversationLog
  readonly history: History
  readonly visible: VisibleCalls
}

/** Gives a log to its followers: all of it, or what its last summary does not cover. */
export async function readBack(
  reading: Reading,
  { log, history, visible }: Readers,
  onFact: (entry: Entry, fact: Fact) => void,
): Promise<void> {
  const { store, conversation, needsAll, restore } = reading
  const read = (entry: Entry) => {
    const fact = factOf(entry, restore)
    log.replay(fact, entry.seq)
    onFact(entry, fact)
  }
  const tail = needsAll ? undefined : await logTail(reading)
  if (tail === undefined) {
    for await (const entry of store.entries(conversation)) read(entry)
    return
  }
  const { summary, kept, readable } = tail
  log.beginBehind(summary.data)
  history.beginBehind(summary.data, kept)
  for (const entry of readable) visible.apply([factOf(entry, restore)], entry.seq)
  for (const entry of tail.entries) read(entry)
}

/** The end of a log, and what its last summary says of what is before it. */
interface LogTail {
  readonly summary: EntryOf<'summary'>
  /** The entries after the part that the summary covers, including the summary. */
  readonly entries: readonly Entry[]
  /** The messages before it that requests still show. */
  readonly kept: readonly { readonly message: Message; readonly seq: number }[]
  /** The records before it that artifact tools still read, in the order asked. */
  readonly readable: readonly EntryOf<'settlement'>[]
}

/**
 * The part of a log that a turn has to read, if it has a summary and everything that the turn may need of the covered part is
 * in the summary. Otherwise undefined: the turn reads the whole log.
 */
async function logTail(reading: Reading): Promise<LogTail | undefined> {
  const { store, conversation, gates } = reading
  const query = { conversation, kind: 'summary', descending: true, limit: 1 } as const
  const [found] = (await store.find(query)).entries
  const summary = found?.entry
  // An imported summary does not say where the history continues.
  if (summary?.kind !== 'summary' || summary.data.place === undefined) return undefined
  const { upTo, keeps = [], calls } = summary.data
  for (const { id } of gates) {
    const opening = await store.get(conversation, 'gate-opened', id)
    if (opening === undefined || opening.seq <= upTo) return undefined
  }
  const entries: Entry[] = []
  for await (const entry of store.entries(conversation, { from: upTo + 1 })) entries.push(entry)
  if (!(await isEnough(reading, upTo, entries))) return undefined
  const kept = await Promise.all(keeps.map((seq) => messageAt(reading, seq)))
  const readable = await Promise.all(calls.map((id) => store.get(conversation, 'settlement', id)))
  return { summary, entries, kept: kept.flat(), readable: readable.flatMap((one) => one ?? []) }
}

/** The kinds that change nothing about what is covered. */
const FOLLOWED: ReadonlySet<EntryKind> = new Set([
  'turn-start',
  'message',
  'thought',
  'history-item',
  'model-call',
  'intent',
  'gate-opened',
  'gate-closed',
  'rewind',
  'settlement',
  'summary',
  'note',
  'turn-end',
])

/** Whether nothing in the covered part can matter to the turn. */
async function isEnough(
  { store, conversation, way, isNew }: Reading,
  upTo: number,
  entries: readonly Entry[],
): Promise<boolean> {
  if (!isClosed(entries)) return false
  // A turn that the summary cuts through and that has no end left something behind: its process died.
  if (!entries.some(({ kind }) => kind === 'turn-end')) return false
  // The next request is compared with the last one.
  if (!entries.some(({ kind }) => kind === 'model-call')) return false
  if (isNew) return true
  // A turn that continues another counts what that one used, and has its context.
  const last = entries.findLast(isStart)
  const first = last?.data.continues ?? last?.turnId
  if (!entries.some((entry) => isStart(entry) && entry.turnId === first)) return false
  if (way !== 'recover') return true
  const doubts = await store.find({ conversation, settlement: 'in-doubt', limit: 1 })
  const [oldest] = doubts.entries
  return oldest === undefined || oldest.entry.seq > upTo
}

/** Whether no entry is about something before, such as a call that ran in the background. */
function isClosed(entries: readonly Entry[]): boolean {
  const asked = new Set<unknown>()
  for (const { kind, data } of entries) {
    if (!FOLLOWED.has(kind)) return false
    if (kind === 'history-item' || kind === 'message') asked.add(data['id'])
    else if (kind === 'rewind') {
      if (!asked.has(data.message)) return false
    } else if (kind === 'settlement' || (kind === 'intent' && data.editOf !== undefined)) {
      const { id, editOf, supersedes } = data as Readonly<Record<string, unknown>>
      if (!asked.has(editOf ?? supersedes ?? id)) return false
      asked.add(id)
    } else if (kind === 'note') {
      const about = backgroundResultIn(data)
      if (about !== undefined && !asked.has(about)) return false
    }
  }
  return true
}

const isStart = (entry: Entry): entry is EntryOf<'turn-start'> => entry.kind === 'turn-start'

async function messageAt({ store, conversation, restore }: Reading, seq: number) {
  for await (const entry of store.entries(conversation, { from: seq })) {
    const fact = factOf(entry, restore)
    return fact.kind === 'message' ? [{ message: fact.message, seq }] : []
  }
  return []
}
