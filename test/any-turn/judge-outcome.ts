import { canonicalStringify } from '../../src/core/json/canonical.ts'
import type { Entry } from '../../src/store/entry.ts'
import type { Gate } from '../../src/store/gate.ts'
import type { Store } from '../../src/store/store.ts'
import type { StopCode, TurnOutcome, TurnStatus } from '../../src/turn/limits/outcome.ts'
import type { Played } from './act.ts'
import type { World } from './world.ts'

const REASONS: Record<TurnStatus, readonly (StopCode | undefined)[]> = {
  completed: [undefined],
  suspended: ['GATE'],
  aborted: ['ABORTED'],
  stopped: [
    'MAX_ITERATIONS',
    'MAX_CALLS',
    'MAX_TIME',
    'BUDGET',
    'REPEATED_CALL',
    'NOTHING_LEFT',
    'MIDDLEWARE',
  ],
  failed: ['STORE_FAILED', 'EXECUTOR_FAILED', 'MODEL_FAILED', 'MIDDLEWARE'],
}

/** Everything that is stored of a conversation. */
export async function logOf(store: Store, conversation: string): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  if ((await store.conversation(conversation)) === undefined) return entries
  for await (const entry of store.entries(conversation)) entries.push(entry)
  return entries
}

/** One outcome and what it is judged by. */
interface Case {
  readonly world: World
  readonly played: Played
  readonly outcome: TurnOutcome
  readonly log: readonly Entry[]
  /** The stored records by id, as canonical JSON. */
  readonly records: ReadonlyMap<string, string>
  /** Calls that wait for a decision. */
  readonly waiting: ReadonlySet<string | undefined>
  /** Whether others may have worked on the conversation, or deleted it. */
  readonly isRivalled: boolean
  /** Whether that, or a store that failed, may have kept it from recording what it did. */
  readonly isTroubled: boolean
  check(holds: boolean, fault: string): void
}

/** Looks at how a turn ended, at what it told and at what it stored. */
export async function judgeOutcome(
  world: World,
  played: Played,
  outcome: TurnOutcome,
  isRivalled: boolean,
): Promise<void> {
  const { ledger, store } = world
  const { life, command, conversation } = played
  const log = await logOf(store, conversation)
  const records = log.flatMap(({ kind, data }) =>
    kind === 'settlement' ? [[(data as { id: string }).id, canonicalStringify(data)] as const] : [],
  )
  const open = await store.openGates(conversation)
  const isTroubled = isRivalled || life.struck?.startsWith('fault') === true
  const check = (holds: boolean, fault: string) =>
    ledger.check(holds, `${command.do} on ${conversation}: ${fault}`)
  const waiting = new Set(open.map(({ toolCallId }) => toolCallId))
  const recordsById = new Map(records)
  const given = { world, played, outcome, log, records: recordsById, waiting }
  const judged: Case = { ...given, isRivalled, isTroubled, check }
  judgeReason(judged)
  if (!isRivalled) judgeGates(judged, open)
  if (!isRivalled) judgeRecords(judged)
  if (!isTroubled && outcome.status !== 'failed') judgeCompleteness(judged)
  if (world.program.settings.isWatched) judgeEvents(judged)
}

function judgeReason({ world, played, outcome, isTroubled, check }: Case): void {
  const { life, command } = played
  const { layers, maxTokens } = world.program.settings
  const { status, reason } = outcome
  const code = reason?.code
  check(REASONS[status].includes(code), `it ended ${status} because of ${code}`)
  const has = (...kinds: readonly string[]) =>
    command.steps.some(({ kind }) => kinds.includes(kind))
  const isLeft = command.do === 'run' && command.breakAfter !== undefined
  const allowed: Partial<Record<StopCode, boolean>> = {
    ABORTED: life.abort.signal.aborted || isLeft,
    STORE_FAILED: isTroubled,
    MIDDLEWARE: layers.some((layer) => /turn|dispatch/.test(layer)),
    EXECUTOR_FAILED: has('throw', 'garbage'),
    MODEL_FAILED: has('transient'),
    BUDGET: maxTokens !== undefined,
  }
  const mayBe = code === undefined || (allowed[code] ?? true)
  check(mayBe, `it ended ${status}, ${code}: ${reason?.message}`)
}

function judgeGates({ outcome, check }: Case, open: readonly Gate[]): void {
  const { status, gates } = outcome
  const hasPending = gates.some(({ state }) => state === 'pending')
  check(status !== 'suspended' || hasPending, 'it waits for nothing')
  const ids = open.map(({ id }) => id).join()
  check(status !== 'completed' || open.length === 0, `gates are left open: ${ids}`)
}

/** The records in hand are the stored ones, in the order asked. */
function judgeRecords({ world, played, outcome, records, check }: Case): void {
  const asked = world.ledger.asked.get(played.conversation) ?? []
  let last = -1
  for (const call of outcome.toolCalls) {
    const isSame = records.get(call.id) === canonicalStringify(call.toJSON())
    check(isSame, `the record of ${call.id} is not the stored one`)
    // What a person or a reconciliation made of a call stands behind all that were asked for.
    if (call.editOf !== undefined || call.supersedes !== undefined) continue
    const place = asked.indexOf(call.id)
    check(place > last, `${call.id} is not in the order asked`)
    last = place
  }
}

/** The log knows the turn's end, and every call has its record, or waits. */
function judgeCompleteness({ world, outcome, log, records, waiting, check }: Case): void {
  const { status, turnId } = outcome
  const isEnd = ({ kind, turnId: of }: Entry) => kind === 'turn-end' && of === turnId
  check(log.filter(isEnd).length === 1, 'the log does not have its end once')
  if (world.program.settings.layers.includes('turn shortcut')) return
  for (const { kind, data, turnId: of } of log) {
    if (kind !== 'history-item' || data.type !== 'call') continue
    // What an earlier process began is left to the next one when nobody could look at it.
    if (status === 'aborted' && of !== turnId) continue
    // So is what was open when the time of the chain was used up: a new turn ends it.
    if (outcome.reason?.code === 'MAX_TIME' && of !== turnId) continue
    check(records.has(data.id) || waiting.has(data.id), `${data.id} (${status}) has no record`)
  }
}

/** Every call is announced once and completed once, as it was stored. */
function judgeEvents({
  world,
  played,
  outcome,
  waiting,
  isTroubled,
  isRivalled,
  check,
}: Case): void {
  const { events, conversation } = played
  const { status, toolCalls, turnId } = outcome
  const told = { asked: new Map<string, number>(), settled: new Map<string, number>() }
  for (const { name, content, origin } of events) {
    if (name !== 'toolCall' || origin.turnId !== turnId) continue
    const { id, isComplete, settlement } = content
    const list = isComplete ? told.settled : told.asked
    list.set(id, (list.get(id) ?? 0) + 1)
    if (!isComplete || isRivalled) continue
    const stored = world.ledger.settled.get(`${conversation}/${id}`)
    check(stored === settlement, `${id} was told to be ${settlement} and is ${stored}`)
  }
  for (const [id, count] of [...told.asked, ...told.settled]) {
    check(count === 1, `${id} was told ${count} times`)
  }
  for (const { id } of toolCalls) check(told.settled.has(id), `${id} was never told`)
  if (status !== 'failed' && !isTroubled) {
    for (const id of told.asked.keys()) {
      check(told.settled.has(id) || waiting.has(id), `${id} was announced and not completed`)
    }
  }
  judgeExecutions(events, status === 'aborted' || isTroubled, check)
}

/** Every start has its one end, except where a handler never ends. */
function judgeExecutions(
  events: Played['events'],
  isAborted: boolean,
  check: (holds: boolean, fault: string) => void,
) {
  const open = new Map<string, string>()
  const names = new Map<string, string>()
  for (const event of events) {
    if (event.name !== 'toolExecutionStart' && event.name !== 'toolExecutionEnd') continue
    const { toolCallId, callId, tool } = event.content
    const key = `${event.origin.conversation}/${toolCallId}`
    if (event.name === 'toolExecutionStart') {
      check(!open.has(key), `${key} started twice at once`)
      open.set(key, callId)
      names.set(key, tool)
    } else {
      check(open.get(key) === callId, `${key} ended without having started`)
      open.delete(key)
    }
  }
  if (isAborted) return
  for (const key of open.keys()) {
    check(/slow|agent/.test(names.get(key) ?? ''), `${key} started and did not end`)
  }
}
