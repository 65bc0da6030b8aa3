import { sha256Hex } from '#hash'
import { thrownText } from '../../core/error/thrown-text.ts'
import type { SpoolStore } from '../../spool/spool-store.ts'
import { agentFrom } from '../active-agent.ts'
import type { Entry } from '../entry.ts'
import { referencesOf } from '../rows/entry-references.ts'
import { assertNewEntry, columnsOf, parseBody } from '../rows/entry-text.ts'
import { keyCheckOf } from '../rows/seal.ts'
import { SealTrail, type WrongSeal } from '../rows/seal-trail.ts'
import type { StoreDriver } from '../rows/store-driver.ts'
import type { ConversationRow, EntryRow } from '../rows/store-rows.ts'
import type { VerifyFault, VerifyOptions, VerifyReport } from '../store.ts'
import { type FaultList, faultList } from './fault-list.ts'
import { verifyBytes } from './verify-bytes.ts'
import { gateTrail, verifyGates } from './verify-gates.ts'
import { approvalTrail, verifyGrants } from './verify-grants.ts'

const PAGE = 500

/**
 * Recomputes every digest and seal of a conversation, and compares values that are stored twice. Changes to a
 * sealed turn are found unless they were made with the conversation's key.
 */
export async function verifyConversation(
  driver: StoreDriver,
  row: ConversationRow,
  options: Omit<VerifyOptions, 'key'> & {
    readonly key: Uint8Array | undefined
    readonly spool?: SpoolStore
  },
): Promise<VerifyReport> {
  const list = faultList()
  const gates = gateTrail()
  const trail = approvalTrail()
  const log = await verifyLog(driver, row, options, { list, trails: [gates, trail] })
  verifyHead(row, options, log, list)
  verifyOutside(options.seals ?? [], log.seals, list)
  const read = await verifyGates(driver, row.id, gates, list)
  await verifyGrants(driver, row, { gates: read, trail }, list)
  if (options.artifacts !== false) {
    await verifyBytes(driver, row.id, { digests: log.digests, spool: options.spool }, list)
  }
  return { ...list.report(), entries: log.entries, sealed: log.sealedSeq }
}

/** Collects what it needs of the entries. */
interface EntryTrail {
  see(entry: Entry): void
}

interface Log {
  readonly entries: number
  readonly last: number
  readonly sealedSeq: number
  readonly seals: readonly string[]
  /** Of the artifacts and media that entries refer to. */
  readonly digests: ReadonlySet<string>
  readonly agent: string | null
}

async function verifyLog(
  driver: StoreDriver,
  conversation: ConversationRow,
  { key }: { readonly key: Uint8Array | undefined },
  { list, trails }: { readonly list: FaultList; readonly trails: readonly EntryTrail[] },
): Promise<Log> {
  const trail = new SealTrail(conversation, key)
  const referenced = new Set<string>()
  let entries = 0
  let last = 0
  let epoch = 0

  let agent: string | null = null

  const see = (entry: Entry) => {
    agent = agentFrom(entry) ?? agent
    for (const each of trails) each.see(entry)
    for (const digest of referencesOf(entry)) referenced.add(digest)
    if (entry.epoch < epoch || entry.epoch > conversation.epoch) {
      list.add(entryFault('inserted', last, `its epoch ${entry.epoch} was not current then`))
    }
    epoch = Math.max(epoch, entry.epoch)
  }
  const report = (wrong: WrongSeal | undefined) => {
    if (wrong !== undefined) list.add(sealFault(wrong))
  }
  report(trail.begin())

  for (;;) {
    const rows = await driver.rows(conversation.id, last + 1, PAGE)
    for (const row of rows) {
      reportGap(last, row.seq, list)
      last = row.seq
      entries++
      const entry = verifyEntry(row, list)
      // The recomputed digest, so that an edited digest alone does not condemn the whole turn.
      report(trail.see(row, sha256Hex(row.body)))
      if (entry !== undefined) see(entry)
    }
    if (rows.length < PAGE) {
      const { sealedSeq, seals } = trail
      return { entries, last, sealedSeq, seals, digests: referenced, agent }
    }
  }
}

function reportGap(last: number, seq: number, list: FaultList): void {
  if (seq === last + 1) return
  const missing =
    seq === last + 2 ? `entry ${last + 1} is` : `entries ${last + 1} to ${seq - 1} are`
  list.add(entryFault('deleted', last + 1, `${missing} missing`))
}

/** Checks one entry by itself. Gives the entry if its text matches its digest. */
function verifyEntry(row: EntryRow, list: FaultList): Entry | undefined {
  let entry: Entry
  try {
    entry = parseBody(`Entry ${row.seq}`, row.body)
    assertNewEntry(entry, `Entry ${row.seq}`)
  } catch (error) {
    list.add(entryFault('unreadable', row.seq, thrownText(error)))
    return undefined
  }
  if (sha256Hex(row.body) !== row.digest) {
    list.add(entryFault('edited', row.seq, 'its text does not match its digest'))
    return undefined
  }
  if (entry.seq !== row.seq) {
    list.add(entryFault('reordered', row.seq, `it was written as entry ${entry.seq}`))
  }
  const column = differingColumn(entry, row)
  if (column !== undefined) {
    list.add(entryFault('edited', row.seq, `its column \`${column}\` does not match its text`))
  }
  if ((row.seal !== null) !== (entry.kind === 'turn-end')) {
    list.add(entryFault('edited', row.seq, 'a seal goes with the end of a turn, and only with it'))
  }
  return entry
}

function differingColumn(entry: Entry, row: EntryRow): string | undefined {
  const expected: Record<string, unknown> = { ...columnsOf(entry), time: entry.time }
  return Object.keys(expected).find((name) => expected[name] !== Reflect.get(row, name))
}

/** Compares the conversation's own row with what its log says. */
function verifyHead(
  row: ConversationRow,
  { key }: { readonly key: Uint8Array | undefined },
  log: Log,
  list: FaultList,
): void {
  const fault = (kind: VerifyFault['fault'], message: string) =>
    list.add({ fault: kind, part: 'conversation', message })
  if (log.last < row.length)
    fault('deleted', `entries ${log.last + 1} to ${row.length} are missing`)
  if (log.last > row.length) fault('inserted', `entries after ${row.length} were never counted`)
  if (row.sealedSeq !== log.sealedSeq || row.seal !== (log.seals.at(-1) ?? '')) {
    fault('edited', 'its last seal is not that of the last turn in the log')
  }
  if (row.agent !== log.agent) fault('edited', 'its active agent is not that of the log')
  if (key === undefined) fault('unreadable', 'its key is not stored: give `key` to check its seals')
  else if (keyCheckOf(key) !== row.keyCheck) fault('edited', 'its key is not the one it began with')
}

/** Seals that were kept elsewhere must all be there, in order. A missing one means lost turns. */
function verifyOutside(kept: readonly string[], found: readonly string[], list: FaultList): void {
  let from = 0
  for (const seal of kept) {
    const at = found.indexOf(seal, from)
    if (at === -1) {
      const message = `the turn that ended with seal ${seal} is not in the log (any more)`
      list.add({ fault: 'seal-missing', part: 'seal', id: seal, message })
    } else from = at + 1
  }
}

function entryFault(fault: VerifyFault['fault'], seq: number, message: string): VerifyFault {
  return { fault, part: 'entry', seq, message: `Entry ${seq}: ${message}.` }
}

function sealFault({ from, to }: WrongSeal): VerifyFault {
  const message =
    `The seal of entry ${to} does not fit entries ${from} to ${to}: one of them or the seal was edited, ` +
    'or an entry was inserted, deleted or moved.'
  return { fault: 'edited', part: 'seal', seq: to, message }
}
