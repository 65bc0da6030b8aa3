import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { checksum } from '../../core/checksum.ts'
import { isBobbinError } from '../../core/error/error.ts'
import { canonicalArguments, inKeyOrder } from '../../core/json/key-order.ts'
import { lowerTrust, type TrustTier } from '../../core/trust.ts'
import { unparsedArguments } from '../../core/unparsed-arguments.ts'
import type { CallItem, HistoryItem } from '../../records/history-item.ts'
import { MAX_BLOB_BYTES } from '../../store/store.ts'
import { callsOf, callWire } from '../executor/check-decision.ts'
import type { CallRequest, ExecutorDecision } from '../executor/executor.ts'
import type { AskedCall } from '../log/call-state.ts'
import { type Fact, itemFact, noAnswerNote, OWN_WIRE } from '../log/fact.ts'
import { isStrangers } from '../log/log-state.ts'
import type { CallScope } from './call-scope.ts'
import { providedFacts } from './provided.ts'
import { TextStreams } from './text-streams.ts'

/** A response as facts: all its items in wire order, and the calls to act on. */
export interface AskedResponse {
  readonly facts: readonly Fact[]
  readonly calls: readonly JudgedCall[]
  /** Whether its provider asks for approval of a call of its own. */
  readonly isGated: boolean
}

/** A call with the taint that it is judged by: what the model had read when it asked for it. */
export interface JudgedCall {
  readonly call: AskedCall
  readonly taint: TrustTier
}

/** The id of the response, and when it arrived. */
interface Origin {
  readonly id: string
  readonly at: number
  readonly streamId: ResponsePlace['streamId']
}

/** The id of the response, and the ids of events for the ids under which it streamed. */
interface ResponsePlace {
  readonly id: string
  readonly streamId: (id: string) => string
}

/** Gives every call of a decision its id and its place in the history; none gets lost. */
export async function askCalls(
  scope: CallScope,
  decision: ExecutorDecision,
  { id, streamId }: ResponsePlace,
): Promise<AskedResponse> {
  const from = { id, at: scope.settings.clock.now(), streamId }
  const requests = [...callsOf(decision)]
  const calls: JudgedCall[] = []
  const placed: (HistoryItem | AskedCall)[] = []
  const inputs = new Map<HistoryItem, string>()
  const { state } = scope.log
  if (decision.grounded === true) state.seeUnrecorded('third-party')
  let { taint } = state
  const ask = async (request: CallRequest, isUnfinished = false) => {
    const call = await askOne(scope, request, from, isUnfinished)
    calls.push({ call, taint })
    placed.push(call)
  }
  for (const given of itemsOf(decision)) {
    const item = isOurs(given) ? given : inKeyOrder({ ...given, response: from.id })
    if (item.type !== 'call' && item.type !== 'openCall') placed.push(item)
    else if (isOurs(item)) await ask(requests.shift() ?? item)
    else {
      const { inputId, ...own } = item
      const claimed = { ...own, id: await scope.log.claimId(item.id) }
      placed.push(claimed)
      if (inputId !== undefined) inputs.set(claimed, streamId(inputId))
    }
    // The model has read what its provider's tool gave before it asks for the next call.
    if (isStrangers(item)) taint = lowerTrust(taint, 'third-party')
  }
  for (const request of requests) await ask(request)
  for (const { tool, callId, rawArgs, inputId } of decision.unfinished ?? []) {
    const named = { ...(callId !== undefined && { id: callId }), ...(inputId && { inputId }) }
    await ask({ tool, args: rawArgs, rawArgs, ...named }, true)
  }
  const streams = new TextStreams(scope.events.openTexts())
  const provided = await providedFacts(scope, placed.filter(isItem), from.at, inputs)
  const facts = placed.flatMap((one): readonly Fact[] => {
    if (!isItem(one)) return [{ kind: 'call', call: one }]
    return (
      provided.get(one) ?? [
        itemFact(one, {
          id: streams.idOf(one) ?? scope.settings.ids(),
          at: scope.settings.clock.now(),
        }),
      ]
    )
  })
  const isGated = facts.some(({ kind }) => kind === 'gate-opened')
  const mark = noAnswer(decision)
  return { facts: mark === undefined ? facts : [...facts, mark], calls, isGated }
}

const isItem = (one: HistoryItem | AskedCall): one is HistoryItem => 'type' in one

const isOurs = (item: HistoryItem): item is CallItem =>
  item.type === 'call' && item.executedBy === 'runner' && item.result === undefined

function itemsOf(decision: ExecutorDecision): readonly HistoryItem[] {
  if (decision.items !== undefined || !('answer' in decision)) return decision.items ?? []
  return [{ type: 'message', role: 'assistant', parts: [{ type: 'text', text: decision.answer }] }]
}

/** The mark on a response without calls that is not a whole answer: after a crash, nothing else would show it. */
function noAnswer(decision: ExecutorDecision): Fact | undefined {
  const { finish = 'stop' } = decision
  const isAnswer = 'answer' in decision && (finish === 'stop' || finish === 'tools')
  return isAnswer || callsOf(decision).length > 0 ? undefined : noAnswerNote(finish)
}

async function askOne(
  scope: CallScope,
  request: CallRequest,
  { id: response, at: askedAt, streamId }: Origin,
  isUnfinished: boolean,
): Promise<AskedCall> {
  const { tool, wire: given = OWN_WIRE, providerData, inputId } = request
  const id = await scope.log.claimId(request.id || scope.settings.ids())
  const wire = given === OWN_WIRE ? given : callWire(tool, given)
  const { args, rawArgs, fault } = readArguments(request)
  // Long invalid text goes to the spool. Its `providerData` is dropped: it would hold the same text again.
  const isLong = rawArgs !== undefined && rawArgs.length > MAX_BLOB_BYTES
  const item: CallItem = {
    type: 'call',
    id,
    tool,
    args,
    wire,
    executedBy: 'runner',
    response,
    ...(!isLong && rawArgs !== undefined && { rawArgs }),
    ...(!isLong && providerData && { providerData: inKeyOrder(providerData) }),
  }
  const raw = isLong ? new SpooledArtifact(await scope.output.write(rawArgs)) : rawArgs
  return {
    item,
    checksum: checksum(tool, args),
    askedAt,
    isUnfinished,
    ...(fault && { fault }),
    ...(raw !== undefined && { rawArgs: raw }),
    ...(inputId !== undefined && { inputId: streamId(inputId) }),
  }
}

/** Reads arguments strictly. Invalid arguments are described, never repaired. */
function readArguments({
  args,
  rawArgs,
  fault,
}: CallRequest): Pick<CallItem, 'args' | 'rawArgs'> & { readonly fault?: string } {
  const unreadable = (why: string) => {
    const raw: unknown = rawArgs ?? args
    return {
      args: inKeyOrder(unparsedArguments(raw)),
      fault: why,
      ...(typeof raw === 'string' && { rawArgs: raw }),
    }
  }
  if (fault !== undefined) {
    const { path, rule } = fault
    return unreadable(`The arguments are not strict JSON: \`${path}\` breaks the rule ${rule}.`)
  }
  try {
    return { args: canonicalArguments(args) }
  } catch (error) {
    if (!isBobbinError(error)) throw error
    return unreadable(error.message)
  }
}
