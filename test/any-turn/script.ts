import { BobbinError } from '../../src/core/error/error.ts'
import type { HistoryItem } from '../../src/records/history-item.ts'
import { spokenText } from '../../src/records/spoken-text.ts'
import type { CallRequest } from '../../src/turn/executor/executor.ts'
import { wire } from '../../src/wire/index.ts'
import { providers } from '../../src/wire/providers.ts'
import type { Life } from './life.ts'
import type { AskedCall, Step } from './program.ts'
import type { World } from './world.ts'

/** Which script an inner turn was told to follow. */
export function taskOf(items: readonly HistoryItem[]): string {
  const [first] = items
  const part = first?.type === 'message' ? first.parts[0] : undefined
  return part?.type === 'text' ? (/\d/.exec(part.text)?.[0] ?? '0') : '0'
}

/** What a script's step comes to. */
export function decisionOf(step: Step | undefined, items: readonly HistoryItem[]) {
  switch (step?.kind) {
    case 'calls':
      return { calls: step.calls.map((call) => requestOf(call, items)) }
    case 'nothing':
      return { calls: [] }
    case 'throw':
      throw new Error('the executor gave up')
    case 'transient':
      throw new BobbinError('E_PROVIDER_UNAVAILABLE', 'Busy.', { isRetryable: true } as never)
    case 'garbage':
      return { calls: [{ tool: 7 }] } as never
    default:
      return { answer: 'done' }
  }
}

function requestOf(call: AskedCall, items: readonly HistoryItem[]): CallRequest {
  const { tool, id } = call
  return { tool, args: argumentsOf(call, items), ...(id !== undefined && { id }) }
}

function argumentsOf({ tool, n, how, args }: AskedCall, items: readonly HistoryItem[]) {
  if (args === 'broken') return '{"n":'
  if (args === 'unfit') return { n: 'many' }
  const last = items.findLast((item) => item.type === 'call')
  const good =
    tool === 'agent'
      ? { task: `${n}` }
      : tool === 'artifact_head'
        ? { callId: last?.type === 'call' ? last.id : 'call_0' }
        : { n, how }
  return args === 'text' ? JSON.stringify(good) : good
}

const WIRES = providers.map(({ api }) => wire(api, { secret: new Uint8Array(32).fill(5) }))

/** How the text of a summary begins. */
const SUMMARY = 'The conversation began earlier'

/** Every provider takes the history, and no call of it is without its result. */
export function checkHistory(
  { ledger }: World,
  life: Life,
  conversation: string,
  items: readonly HistoryItem[],
): void {
  const calls = items.flatMap((item) => (item.type === 'call' ? [item] : []))
  for (const { id, result } of calls) {
    ledger.check(result !== undefined, `${conversation}/${id} was shown without a result`)
  }
  const asked = ledger.asked.get(conversation) ?? []
  const [first] = items
  const hasSummary = first?.type === 'message' && spokenText(first.parts).startsWith(SUMMARY)
  let from = 0
  for (const [place, { id }] of calls.entries()) {
    const at = asked.indexOf(id, from)
    // A doubt about a call that a summary covers may be resolved later: that is shown where it happened.
    const isCovered = hasSummary && calls.findIndex((call) => call.id === id) === place
    const isInOrder = at >= 0 || (isCovered && asked.includes(id))
    ledger.check(isInOrder || life.isRivalled, `${conversation}/${id} was shown out of order`)
    if (at >= 0) from = at + 1
  }
  // One after the other: all of them each time would take most of the run.
  const each = WIRES[items.length % WIRES.length] as (typeof WIRES)[number]
  for (const { message } of each.validate(each.encode(items))) {
    ledger.faults.push(`${each.api} does not take ${conversation}: ${message}`)
  }
}
