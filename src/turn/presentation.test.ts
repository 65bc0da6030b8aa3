import { describe, expect, it } from 'vitest'
import { readEnvelopes } from '../../test/envelope/strict-reader.ts'
import { SpooledArtifact } from '../artifacts/spooled-artifact.ts'
import { ToolCall } from '../records/tool-call.ts'
import { memorySpool } from '../spool/memory-spool.ts'
import { presentationOf } from './presentation.ts'

describe('presentation', () => {
  it('shows 8 KB of what is too large to be inline, whatever its script', async () => {
    const reader = await memorySpool().write(`${'語'.repeat(1_000)}\n`.repeat(400))
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
    const { result } = await presentationOf(new Uint8Array(32), 'k').call(call)
    const [head] = result.parts
    const [read] = readEnvelopes(head?.type === 'text' ? head.text : '')
    expect(new TextEncoder().encode(read?.payload).length).toBe(8_192)
    expect(read?.attributes.get('shown-bytes')).toBe('8192')
  })
})
