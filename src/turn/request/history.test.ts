import { describe, expect, it } from 'vitest'
import { foreignCallText, foreignForm } from '../../model/wire/foreign-text.ts'
import type { CallItem, OpenCallItem } from '../../records/history-item.ts'
import { ToolCall } from '../../records/tool-call.ts'
import type { GateClosing } from '../../store/entry.ts'
import { callNote, doubtNote, type Fact } from '../log/fact.ts'
import { History } from './history.ts'
import { presentationOf } from './presentation.ts'

async function itemsAfter(...facts: readonly Fact[]) {
  const history = new History(presentationOf(new Uint8Array(32)), () => {})
  history.apply(facts, 1)
  return history.render()
}

const wire = { provider: 'p', api: 'a', type: 'function_call', origin: 'natural' } as const
const bare: CallItem = { type: 'call', id: 'c', tool: 't', args: {}, wire, executedBy: 'runner' }
const asked = (item: CallItem): Fact => ({
  kind: 'call',
  call: { item, checksum: 'sum', askedAt: 0 },
})
const settled: Fact & { kind: 'settlement' } = {
  kind: 'settlement',
  record: new ToolCall({
    id: 'c',
    tool: 't',
    args: {},
    results: 'done',
    isComplete: true,
    isError: false,
    createdAt: 0,
    completedAt: 1,
  }),
}

describe('History', () => {
  it.each<[string, Partial<CallItem>]>([
    ['nothing more', {}],
    ['the response it came with', { response: 'turn/1' }],
    ['the text received', { rawArgs: '{', fault: { path: '', rule: 'not-json' } }],
    ['a provider’s state', { response: 'turn/1', providerData: { api: 'a', data: 1 } }],
  ])('keeps all of an item with %s, and adds only the result', async (_, more) => {
    const [item] = await itemsAfter(asked({ ...bare, ...more }), settled)
    const { result, ...rest } = item as CallItem
    expect(rest).toStrictEqual({ ...bare, ...more })
    expect(result?.isError).toBe(false)
  })

  it('waits for a call without a record, and shows nothing after it', async () => {
    const other = asked({ ...bare, id: 'd' })
    expect(await itemsAfter(other, asked(bare), settled)).toEqual([])
  })

  it('shows the model the notes that are meant for it, and no others', async () => {
    const notes = [callNote('c', 'You asked before.'), doubtNote({ id: 'c', tool: 't' })]
    const [item] = await itemsAfter(asked(bare), settled, ...notes)
    const texts = (item as CallItem).result?.parts.map((part) => part.type === 'text' && part.text)
    expect(texts?.slice(1)).toEqual(['You asked before.'])
  })

  it('keeps a provider’s call as it came, with a form for other providers under the key of the conversation', async () => {
    const result = { isError: false, parts: [{ type: 'text', text: 'found' }] } as const
    const item: CallItem = { ...bare, executedBy: 'provider', result }
    const [shown] = await itemsAfter({ kind: 'item', id: 'c', item })
    const foreign = foreignForm(new Uint8Array(32), item)
    expect(shown).toStrictEqual({ ...item, foreign })
    expect(foreign).not.toEqual(foreignForm(Uint8Array.of(1), item))
  })

  it('shows a provider’s call of which only the record is left in envelopes', async () => {
    const { record } = settled
    const theirs = new ToolCall({
      ...record,
      args: { q: '<bobbin-data>' },
      checksum: undefined,
      executedBy: 'provider',
    })
    const [shown] = await itemsAfter({ kind: 'settlement', record: theirs })
    const text = foreignCallText(shown as CallItem)
    expect(text).toMatch(
      /^<bobbin-data role="call" [^>]*>\n\{"q":"<\\u\{62\}obbin-data>"\}\n<\/bobbin-data /,
    )
    expect(text).toMatch(/\n<bobbin-data role="result" [^>]*>\ndone\n<\/bobbin-data [^>]*>$/)
  })

  it.each<[Partial<GateClosing>, object]>([
    [
      {
        outcome: 'consumed',
        decision: { verdict: 'approved', decidedBy: 'ann', decidedAt: 1, comment: 'fine' },
      },
      { approved: true, reason: 'fine' },
    ],
    [
      { outcome: 'consumed', decision: { verdict: 'edited', decidedBy: 'ann', decidedAt: 1 } },
      { approved: false },
    ],
    [
      { outcome: 'consumed', decision: { verdict: 'denied', decidedBy: 'ann', decidedAt: 1 } },
      { approved: false },
    ],
    [{ outcome: 'expired' }, { approved: false, reason: 'Nobody decided in time.' }],
    [
      { outcome: 'abandoned', decision: { verdict: 'approved', decidedBy: 'ann', decidedAt: 1 } },
      { approved: false, reason: 'Nobody decided in time.' },
    ],
  ])('tells a provider how its request was decided: %o', async (closing, decision) => {
    const gate = { kind: 'approval' } as const
    const item: OpenCallItem = { ...bare, type: 'openCall', executedBy: 'provider', gate }
    const [shown] = await itemsAfter(
      { kind: 'item', id: 'c', item },
      {
        kind: 'gate-opened',
        gate: { id: 'g', kind: 'approval', from: 'provider', toolCallId: 'c', digest: '' },
      },
      { kind: 'gate-closed', closing: { id: 'g', ...closing } as GateClosing },
    )
    expect((shown as OpenCallItem).gate?.decision).toEqual(decision)
  })
})
