import { spokenText } from '../../records/spoken-text.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { Entry, TurnEnd } from '../../store/entry.ts'
import { restoreFrom } from '../../store/feed/follow.ts'
import { interruptionOf } from '../limits/cut-off.ts'
import type { StopReason, TurnOutcome } from '../limits/outcome.ts'
import { agentIn } from '../log/fact.ts'
import { checkedOutput, type OutputShape } from '../loop/structured-output.ts'
import { NO_USAGE } from '../loop/turn-tally.ts'
import type { RunnerSettings } from '../options/runner-options.ts'

/** A chain of turns as the log has it. */
export interface StoredChain {
  /** Its last turn. */
  readonly turnId: string
  /** How that ended; undefined while it has no end. */
  readonly end: TurnEnd | undefined
  /** Whether another turn began after it. */
  readonly isPast: boolean
  readonly calls: readonly Entry[]
  readonly text: string
  /** The active agent; empty in a conversation without agents. */
  readonly agent: string
}

/** Reads a chain from its first entry on. */
export async function storedChain(
  { store }: RunnerSettings,
  conversation: string,
  first: string,
  from: number,
): Promise<StoredChain> {
  const chain = { turnId: first, end: undefined as TurnEnd | undefined, isPast: false, agent: '' }
  let calls: Entry[] = []
  let answer: { response: string | undefined; text: string; isPartial: boolean } | undefined
  for await (const entry of store.entries(conversation, { from })) {
    if (entry.kind === 'turn-start') {
      const { turnId, data } = entry
      if (turnId !== first && data.continues !== first) {
        chain.isPast = true
        break
      }
      Object.assign(chain, { turnId, end: undefined })
      calls = []
    } else if (entry.kind === 'turn-end') chain.end = entry.data
    else if (entry.kind === 'settlement') calls.push(entry)
    chain.agent = agentOf(entry) ?? chain.agent
    const said = saidIn(entry)
    if (said === undefined) continue
    const isMore = answer !== undefined && said.response === answer.response
    answer = { ...said, text: isMore ? answer?.text + said.text : said.text }
  }
  const isShown = chain.end?.status === 'completed' || chain.end?.reason?.code === 'MODEL_STOPPED'
  const text = answer !== undefined && (isShown || answer.isPartial) ? answer.text : ''
  return { ...chain, calls, text }
}

/** The agent that is active from an entry on. */
function agentOf(entry: Entry): string | undefined {
  if (entry.kind === 'turn-start' || entry.kind === 'rewind') return entry.data.agent
  return entry.kind === 'note' ? agentIn(entry.data) : undefined
}

/** What the model said in an entry. */
function saidIn(entry: Entry) {
  if (entry.kind === 'message') {
    const { role, response, content, partial } = entry.data
    if (role !== 'assistant' || typeof content !== 'string') return undefined
    const id = typeof response === 'string' ? response : undefined
    return { response: id, text: content, isPartial: partial === true }
  }
  if (entry.kind !== 'history-item' || entry.data.type !== 'message') return undefined
  const { role, response, parts } = entry.data
  return role === 'assistant' ? { response, text: spokenText(parts), isPartial: false } : undefined
}

/** The outcome of a turn that has ended, from the log. */
export async function storedOutcome(
  settings: RunnerSettings,
  conversation: string,
  chain: StoredChain & { readonly end: TurnEnd },
  output: OutputShape | undefined,
): Promise<TurnOutcome> {
  const { store, spool, artifacts } = settings
  const { turnId, end, text, agent } = chain
  const context = restoreFrom(store, spool, artifacts)
  const toolCalls = chain.calls.map(({ data }) => ToolCall.fromJSON(data, context))
  const gates = end.status === 'suspended' ? await store.openGates(conversation) : []
  const usage = end.usage ?? NO_USAGE
  const active = agent !== '' && { agent }
  const facts = { text, toolCalls, usage, conversation, turnId, gates, ...active }
  if (end.status !== 'completed') {
    return { status: end.status, ...facts, reason: end.reason as StopReason }
  }
  const interruption = interruptionOf(conversation, undefined, Number.POSITIVE_INFINITY)
  const checked = await checkedOutput({ status: 'completed', text }, output, interruption)
  if (checked.status === 'completed') {
    return { status: 'completed', ...facts, output: checked.output }
  }
  return { status: checked.status, ...facts, reason: checked.reason }
}
