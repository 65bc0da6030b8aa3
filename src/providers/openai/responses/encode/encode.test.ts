import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../core/json/json.ts'
import type { Repair } from '../../../../model/wire/encode-groups.ts'
import { foreignCallText } from '../../../../model/wire/foreign-text.ts'
import type { CallItem, ContentPart, HistoryItem } from '../../../../records/history-item.ts'
import { wire } from '../../../../wire/index.ts'

const codec = wire('openai-responses', { secret: new Uint8Array(32) })

function inputOf(items: readonly HistoryItem[], options = {}): JsonObject[] {
  return (codec.encode(items, options) as { input: JsonObject[] }).input
}

/** Decodes one call, as the runner gets it, and settles it with these parts. */
function settled(item: JsonObject, parts: readonly ContentPart[], isError = false): HistoryItem {
  const [call] = codec.decode([item]).items
  return { ...(call as CallItem), result: { isError, parts } }
}

const text = (value: string): ContentPart => ({ type: 'text', text: value })
const png: ContentPart = {
  type: 'media',
  kind: 'image',
  mimeType: 'image/png',
  source: { type: 'base64', data: 'AAAA' },
}

describe('encode of the Responses protocol', () => {
  it.each([
    [
      { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'x' },
      [text('ok')],
      { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
    ],
    [
      { type: 'local_shell_call', id: 'l', call_id: 'c', status: 'completed', action: {} },
      [text('ok')],
      { type: 'local_shell_call_output', call_id: 'c', output: 'ok' },
    ],
    [
      { type: 'apply_patch_call', call_id: 'c', status: 'completed', operation: {} },
      [text('ok')],
      { type: 'apply_patch_call_output', call_id: 'c', status: 'completed', output: 'ok' },
    ],
    [
      { type: 'shell_call', call_id: 'c', action: { commands: [], max_output_length: 9 } },
      [text('ok')],
      {
        type: 'shell_call_output',
        call_id: 'c',
        max_output_length: 9,
        output: [{ stdout: 'ok', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    [
      { type: 'shell_call', call_id: 'c', action: { commands: [] } },
      [text('[{"stdout":"","stderr":"","outcome":{"type":"timeout"}}]')],
      {
        type: 'shell_call_output',
        call_id: 'c',
        output: [{ stdout: '', stderr: '', outcome: { type: 'timeout' } }],
      },
    ],
    [
      { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} },
      [text('[{"type":"function","name":"f"}]')],
      {
        type: 'tool_search_output',
        execution: 'client',
        call_id: 'c',
        status: 'completed',
        tools: [{ type: 'function', name: 'f' }],
      },
    ],
    [
      { type: 'computer_call', id: 'cu', call_id: 'c', pending_safety_checks: [{ id: 's' }] },
      [png],
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' },
        acknowledged_safety_checks: [{ id: 's' }],
      },
    ],
    [
      {
        type: 'function_call',
        call_id: 'c',
        name: 'f',
        arguments: '{}',
        caller: { type: 'program', caller_id: 'p' },
      },
      [text('see'), png],
      {
        type: 'function_call_output',
        call_id: 'c',
        caller: { type: 'program', caller_id: 'p' },
        output: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
        ],
      },
    ],
  ])('answers %j in its own form', (item, parts, output) => {
    const input = inputOf([settled(item, parts)])
    expect(input.at(-1)).toEqual(output)
    expect(codec.validate(input)).toEqual([])
  })

  it('answers a computer call that failed with a blank screen and the reason', () => {
    const item = { type: 'computer_call', id: 'cu', call_id: 'c', pending_safety_checks: [] }
    const input = inputOf([settled(item, [text('no display')], true)])
    expect(input.slice(1)).toMatchObject([
      { type: 'computer_call_output' },
      { role: 'user', content: 'no display' },
    ])
  })

  it('puts all calls of a response before their outputs', () => {
    const decoded = codec.decode({
      status: 'completed',
      output: ['a', 'b'].map((call_id) => ({
        type: 'function_call',
        call_id,
        name: 'f',
        arguments: '{}',
      })),
    })
    const items = decoded.items.map((item) => ({ ...item, result: { isError: false, parts: [] } }))
    const kinds = inputOf(items as HistoryItem[]).map(({ type, call_id }) => [type, call_id])
    expect(kinds).toEqual([
      ['function_call', 'a'],
      ['function_call', 'b'],
      ['function_call_output', 'a'],
      ['function_call_output', 'b'],
    ])
  })

  it.each([
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'item_reference', id: 'rs_1' },
  ])('leaves reasoning out that nothing follows: %j', (reasoning) => {
    const { items } = codec.decode([
      { role: 'user', content: 'a' },
      reasoning,
      { role: 'user', content: 'b' },
    ])
    expect(inputOf(items).map(({ type }) => type)).toEqual(['message', 'message'])
  })

  it('answers an approval, and alone where the provider holds the request', () => {
    const request = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'f', arguments: '{}' }
    const [open] = codec.decode([request]).items
    if (open?.type !== 'openCall') throw new Error('the open call is missing')
    const decision = { approved: false, reason: 'no' }
    const decided = { ...open, gate: { kind: 'approval' as const, decision } }
    const answer = {
      type: 'mcp_approval_response',
      approval_request_id: 'mcpr_1',
      approve: false,
      reason: 'no',
    }
    expect(inputOf([decided])).toEqual([request, answer])
    expect(inputOf([decided], { continues: true })).toEqual([answer])
  })

  it('sends only the outputs where the provider holds the calls', () => {
    const output = { type: 'function_call_output', call_id: 'c', output: 'ok' }
    expect(inputOf(codec.decode([output]).items, { continues: true })).toEqual([output])
  })

  it('repairs a result without a call and reports it', () => {
    const repairs: Repair[] = []
    const { items } = codec.decode([{ type: 'function_call_output', call_id: 'c', output: 'ok' }])
    const input = inputOf(items, { onRepair: (repair: Repair) => repairs.push(repair) })
    expect(input).toMatchObject([
      { type: 'function_call', call_id: 'c', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'ok' },
    ])
    expect(repairs).toMatchObject([{ kind: 'stray-result', item: 'c' }])
  })

  it('sends what another vendor’s server did as text', () => {
    const foreign: HistoryItem = {
      type: 'call',
      id: 'srvtoolu_1',
      tool: 'web_search',
      args: { query: 'news' },
      executedBy: 'provider',
      wire: {
        provider: 'anthropic',
        api: 'anthropic-messages',
        type: 'server_tool_use',
        callId: 'srvtoolu_1',
        origin: 'natural',
      },
      result: { isError: false, parts: [text('three results')] },
      providerData: { api: 'anthropic-messages', data: { items: [] } },
    }
    expect(inputOf([foreign])).toEqual([
      {
        type: 'message',
        role: 'assistant',
        content: foreignCallText(foreign),
      },
    ])
  })

  it('fits names and ids that this wire refuses', () => {
    const { items } = codec.decode([
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ])
    const odd = { ...(items[0] as CallItem), id: 'x'.repeat(100), tool: 'mcp.server/tool name' }
    const { providerData: _, ...foreign } = {
      ...odd,
      wire: { ...odd.wire, api: 'there', callId: odd.id },
    }
    expect(codec.validate(inputOf([foreign]))).toEqual([])
  })

  it('gives instructions back as instructions', () => {
    const request = {
      instructions: 'Be brief.',
      input: [{ type: 'message', role: 'user', content: 'a' }],
    }
    expect(codec.encode(codec.decode(request).items)).toEqual(request)
  })

  it.each([[7], [null], [{}], [undefined]])('refuses the payload %j', (payload) => {
    expect(() => codec.decode(payload)).toThrow(/nothing that `openai-responses` has/)
  })
})
