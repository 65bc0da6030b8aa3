import type { Entry, EntryKind, EntryOf, ModelCall, NewEntry, Summary } from '../entry.ts'
import { itemMessage } from '../rows/item-message.ts'

/** An entry as it travels: what only its own store can use is left out. */
export type Travelling = NewEntry & Pick<Entry, 'v' | 'time' | 'redacted'>

/** The number that an entry has in the file, where some entries are left out. */
type InFile = (seq: number) => number

/** What an export does with each kind: the entry as it travels, or nothing. */
const TRAVELS: {
  readonly [K in EntryKind]: (entry: EntryOf<K>, inFile: InFile) => Travelling | undefined
} = {
  message: (entry) => entry,
  thought: (entry) => entry,
  'history-item': plainMessage,
  intent: (entry) => entry,
  settlement: (entry) => entry,
  'gate-opened': (entry) => entry,
  'gate-closed': (entry) => entry,
  'turn-start': (entry) => entry,
  'turn-end': (entry) => entry,
  'model-call': (entry, inFile) => ({ ...entry, data: travellingCall(entry.data, inFile) }),
  summary: (entry, inFile) => ({ ...entry, data: travellingSummary(entry.data, inFile) }),
  rewind: (entry) => entry,
  note: (entry) => entry,
}

/** The entry if it can travel. `leftOut` are the numbers of those before it that cannot. */
export function travelling(entry: Entry, leftOut: readonly number[]): Travelling | undefined {
  const inFile = (seq: number) => {
    const after = leftOut.findIndex((left) => left > seq)
    return seq - (after === -1 ? leftOut.length : after)
  }
  return (TRAVELS[entry.kind] as (each: Entry, inFile: InFile) => Travelling | undefined)(
    entry,
    inFile,
  )
}

/** A message as plain text. A provider's other items belong to it. */
function plainMessage(entry: EntryOf<'history-item'>): Travelling | undefined {
  const { v, turnId, time } = entry
  const message = itemMessage(entry)
  return message && { v, kind: 'message', turnId, time, data: message.toJSON() }
}

/** A summary that counts entries as the file does. Its place is that of a history which is not exported whole. */
function travellingSummary(data: Summary, inFile: InFile): Summary {
  const { place: _, ...summary } = data
  const keeps = summary.keeps && { keeps: summary.keeps.map(inFile) }
  return { ...summary, upTo: inFile(summary.upTo), ...keeps }
}

/** What a model call says of itself. The rest is about a request that cannot be made again elsewhere. */
const CALL_FIELDS = [
  'id',
  'iteration',
  'attempt',
  'api',
  'provider',
  'model',
  'startedAt',
  'firstTokenAt',
  'endedAt',
  'finish',
  'error',
  'usage',
  'cost',
  'upTo',
  'fallback',
  'adapter',
] as const satisfies readonly (keyof ModelCall)[]

/**
 * A model call without the parts of its request, and without what counts places of a history that is not exported whole.
 * The digest of the request travels; its parts stay where they are.
 */
export function travellingCall(data: ModelCall, inFile: InFile = (seq) => seq): ModelCall {
  const { upTo, digests } = data
  const { request } = digests
  const fields = CALL_FIELDS.flatMap((name) =>
    data[name] === undefined ? [] : [[name, data[name]] as const],
  )
  return {
    ...(Object.fromEntries(fields) as unknown as ModelCall),
    ...(upTo !== undefined && { upTo: inFile(upTo) }),
    digests: { ...(request !== undefined && { request }) },
    capture: 'digests',
  }
}
