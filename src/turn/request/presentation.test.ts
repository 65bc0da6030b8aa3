import { describe, expect, it } from 'vitest'
import { readEnvelopes } from '../../../test/envelope/strict-reader.ts'
import { SpooledArtifact } from '../../artifacts/spooled-artifact.ts'
import { Message } from '../../records/message.ts'
import { ToolCall } from '../../records/tool-call.ts'
import { memorySpool } from '../../spool/memory-spool.ts'
import { envelopeKey } from '../../text/envelope-key.ts'
import { presentationOf } from './presentation.ts'

describe('presentation', () => {
  it('shows 8 KB of what is too large to be inline, whatever its script', async () => {
    const reader = await memorySpool().write(`${'語'.repeat(1_000)}\n`.repeat(4_000))
    const call = new ToolCall({
      id: 'call_1',
      tool: 'read_log',
      args: {},
      results: new SpooledArtifact(reader),
      isComplete: true,
      isError: false,
      createdAt: 0,
      completedAt: 1,
    })
    const { result } = await presentationOf(new Uint8Array(32)).call(call)
    const [head] = result.parts
    const [read] = readEnvelopes(head?.type === 'text' ? head.text : '')
    expect(new TextEncoder().encode(read?.payload).length).toBe(8_192)
    expect(read?.attributes.get('shown-bytes')).toBe('8192')
  })

  it('seals the same result otherwise in every conversation', async () => {
    const call = new ToolCall({
      id: 'call_1',
      tool: 'read_log',
      args: {},
      results: 'the same',
      isComplete: true,
      isError: true,
      createdAt: 0,
      completedAt: 1,
    })
    const nonces = ['one', 'two', 'one'].map(async (conversation) => {
      const { result } = await presentationOf(envelopeKey(new Uint8Array(32), conversation)).call(
        call,
      )
      return /nonce="([^"]+)"/.exec(JSON.stringify(result.parts).replaceAll('\\', ''))?.[1]
    })
    const [one, two, again] = await Promise.all(nonces)
    expect(one).toHaveLength(22)
    expect(two).not.toBe(one)
    expect(again).toBe(one)
  })

  it('gives a message back with what its provider said beside it', async () => {
    const providerData = { api: 'a', data: { id: 'msg_1' } }
    const said = { id: 'm', role: 'assistant', content: 'x', createdAt: 0 } as const
    const message = new Message({ ...said, providerData, response: 'r1' })
    expect(await presentationOf(new Uint8Array(32)).message(message)).toEqual({
      type: 'message',
      role: 'assistant',
      parts: [{ type: 'text', text: 'x' }],
      providerData,
      response: 'r1',
    })
  })
})
