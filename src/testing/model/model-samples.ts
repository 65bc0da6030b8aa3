import type { CallItem, HistoryItem } from '../../records/history-item.ts'

/** A conversation that no protocol of this package made, with odd ids if asked for. */
export function foreignHistory(idOf: (index: number) => string): readonly HistoryItem[] {
  const items: HistoryItem[] = [
    { type: 'message', role: 'user', parts: [{ type: 'text', text: 'Find out why.' }] },
  ]
  for (let response = 0; response < 15; response++) {
    const calls = Array.from({ length: (response % 3) + 1 }, (_, index) =>
      foreignCall(response, index, idOf(items.length + index)),
    )
    items.push({ type: 'thought', text: `step ${response}`, response: `r${response}` }, ...calls)
  }
  const text = { type: 'text' as const, text: 'That is why.' }
  return [...items, { type: 'message', role: 'assistant', parts: [text], response: 'r15' }]
}

function foreignCall(response: number, index: number, id: string): CallItem {
  return {
    type: 'call',
    id,
    tool: index === 1 ? 'read_log' : 'search',
    args: { query: `query ${response}.${index} — “ü”`, limit: response },
    executedBy: 'runner',
    wire: { provider: 'elsewhere', api: 'elsewhere', type: 'call', callId: id, origin: 'natural' },
    result: {
      isError: index === 2,
      parts: [{ type: 'text', text: `result ${response}.${index}` }],
    },
    response: `r${response}`,
  }
}

/** Ids as other servers make them. */
export const ID_KINDS: Readonly<Record<string, (index: number) => string>> = {
  plain: (index) => `call_${index}`,
  long: (index) => `${'x'.repeat(200)}${index}`,
  odd: (index) => `functions.t:${index}/ü `,
  'names of every object': (index) =>
    ['__proto__', 'constructor', 'toString'][index] ?? `a${index}`,
}

/** What stands where something else belongs. */
export const JUNK: readonly unknown[] = [null, '', 'constructor', -1, [null], {}, 'x'.repeat(300)]
